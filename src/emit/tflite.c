/* TFLite: the edited file, in three steps; see tflite.h. */
#include "emit/tflite.h"

#include "base/checked.h"
#include "base/fault.h"
#include "emit/emit.h"
#include "import/tflite.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_ROOMS = 4 };

static bool is_edited(const ModelEdit *edit) {
    bool is = edit->added_node_count > 0 || edit->added_value_count > 0;
    for (uint32_t k = 0; k < edit->file_node_count && !is; k++) {
        is = edit->fates[k] != NODE_AS_FILED;
    }
    for (uint32_t k = 0; k < edit->file_value_count && !is; k++) {
        is = edit->is_dropped[k] || edit->is_requantised[k];
    }
    return is;
}

static Span kept(Work *work, Span bytes) {
    uint8_t *copy = arena_array(&work->keep, uint8_t, bytes.len);
    memcpy(copy, bytes.ptr, bytes.len);
    return (Span){copy, bytes.len};
}

/* ---- Room for lists that grow */

typedef struct {
    Work *work;
    Flatbuf *flat;
    FlatMove moves[MOST_ROOMS]; /* by position */
    size_t count;
} Rooms;

static bool add_room(Rooms *rooms, const FlatTable *table, uint32_t slot, uint32_t wanted) {
    FlatVector list = flat_tables(rooms->flat, table, slot);
    uint64_t bytes;
    if (wanted <= list.count) {
        return true;
    }
    if (list.at == 0) {
        return emit_refuse_tflite(rooms->work, "a list of the file is absent, and something new belongs there",
                                  "convert the model again");
    }
    CHECK(rooms->count < MOST_ROOMS &&
          checked_round_up((uint64_t)(wanted - list.count) * FLAT_REF_BYTES, EMIT_ALIGN_BYTES, &bytes));
    FlatMove room = {list.at + (size_t)list.count * FLAT_REF_BYTES, (int64_t)bytes};
    size_t k = rooms->count++;
    for (; k > 0 && rooms->moves[k - 1].at > room.at; k--) {
        rooms->moves[k] = rooms->moves[k - 1];
    }
    rooms->moves[k] = room;
    return true;
}

static bool find_rooms(Rooms *rooms, const FlatTable *root, const TflitePlan *plan) {
    FlatVector subgraphs = flat_tables(rooms->flat, root, MODEL_SUBGRAPHS);
    FlatTable main = flat_table_at(rooms->flat, &subgraphs, 0);
    return add_room(rooms, &main, SUBGRAPH_TENSORS, plan->kept_tensors + plan->edit->added_value_count) &&
           add_room(rooms, &main, SUBGRAPH_OPERATORS, plan->operator_count) &&
           add_room(rooms, root, MODEL_BUFFERS, plan->buffer_count + plan->new_buffers) &&
           add_room(rooms, root, MODEL_OPERATOR_CODES, plan->code_count + plan->new_code_count);
}

/* ---- Steps */

/* Where it is and which it is: whoever wrote the file knows what it is for. */
static bool refuse_unknown(Work *work, const FlatWalk *walk) {
    Arena *texts = work->diags.arena;
    return diag_refuse(&work->diags,
                       (DiagText){.what = "the file has fields that are not known, so nothing in it can be moved",
                                  .got = arena_text(texts, "field %" PRIu32 " of the table at byte %zu",
                                                    walk->unknown_slot, walk->unknown_at),
                                  .expected = "fields that TFLite's schema has",
                                  .hint = "write the model without the field, for example with an older converter; or "
                                          "plan it as it is, which needs no new file"});
}

/* The file with room; `walk` is the file's, and becomes the result's. */
static bool open_rooms(Work *work, Span file, FlatWalk *walk, TflitePlan *plan, const ModelEdit *edit,
                       FlatImage *image) {
    Flatbuf flat;
    FlatTable root;
    flat_open(&flat, file, "TFL3", &root);
    Rooms rooms = {.work = work, .flat = &flat};
    if (!emit_plan_tflite(work, edit, &flat, &root, plan) || !find_rooms(&rooms, &root, plan) ||
        !emit_is_sound(work, &flat)) {
        return false;
    }
    if (rooms.count > 0 && walk->has_unknown) {
        return refuse_unknown(work, walk);
    }
    *image = emit_move(work, file, walk, rooms.moves, rooms.count);
    return rooms.count == 0 || emit_walk(work, (Span){image->bytes, image->len}, walk);
}

/* Cuts out what died; where the file has unknown fields they may still name it, and it stays. */
static bool close_gaps(const FlatImage *image, const FlatWalk *before, Span *out) {
    Work *work = image->work;
    Span bytes = {image->bytes, image->len};
    FlatWalk after;
    if (bytes.len > INT32_MAX) {
        return emit_refuse_tflite(work, "the edited file is larger than a FlatBuffer can be", "split the model");
    }
    if (!emit_walk(work, bytes, &after)) {
        return false;
    }
    CHECK(!after.overlaps);
    if (!before->has_unknown) {
        FlatImage swept = emit_sweep(image, before, &after);
        bytes = (Span){swept.bytes, swept.len};
    }
    *out = kept(work, bytes);
    return true;
}

bool emit_tflite(const ModelEdit *edit, Span file, Work *work, Span *out) {
    FlatWalk walk;
    TflitePlan plan;
    FlatImage image;
    if (!is_edited(edit)) {
        *out = file;
        return true;
    }
    if (!emit_walk(work, file, &walk)) {
        return false;
    }
    if (walk.overlaps) {
        return emit_refuse_tflite(work, "parts of the file overlap", "convert the model again");
    }
    return open_rooms(work, file, &walk, &plan, edit, &image) && emit_apply_tflite(&image, &walk, &plan) &&
           close_gaps(&image, &walk, out);
}
