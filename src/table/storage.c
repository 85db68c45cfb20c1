/* Storages of a table. A storage begins as its first row; each further row that shares it is joined. */
#include "table/storage.h"

#include "base/checked.h"
#include "solver/spans.h"

#include <inttypes.h>

typedef struct {
    const Table *table;
    Storages *out;
    size_t *next; /* of each row, the next that shares its storage; 0 where none does: the first row follows none */
    size_t *end;  /* of each storage, the last row yet */
    Work *work;
} Joiner;

/* ---- Contradictions */

static bool contradiction(const Joiner *joiner, const TableRow *row, DiagText text) {
    text.place = arena_text(&joiner->work->keep, "line %" PRIu64, row->line);
    return diag_error(&joiner->work->diags, text);
}

static const char *as_line_has(const Joiner *joiner, size_t row) {
    return arena_text(&joiner->work->keep, "as line %" PRIu64 " has, or nothing: they share a storage",
                      joiner->table->row[row].line);
}

/* The first row of the storage that is pinned, or has a memory; there is one. */
static size_t pinned_row(const Joiner *joiner, size_t storage) {
    size_t row = joiner->out->row[storage];
    while (!joiner->table->row[row].is_pinned) {
        row = joiner->next[row];
    }
    return row;
}

static size_t row_with_memory(const Joiner *joiner, size_t storage) {
    size_t row = joiner->out->row[storage];
    while (joiner->table->row[row].memory == 0) {
        row = joiner->next[row];
    }
    return row;
}

static bool join_pin(const Joiner *joiner, size_t storage, const TableRow *row) {
    SolverBuffer *buffer = &joiner->out->buffer[storage];
    if (row->is_pinned && buffer->is_pinned && row->offset != buffer->offset) {
        return contradiction(joiner, row,
                             (DiagText){.what = "one storage has two offsets",
                                        .got = arena_text(&joiner->work->keep, "%" PRIu64, row->offset),
                                        .expected = arena_text(&joiner->work->keep, "%" PRIu64 " %s", buffer->offset,
                                                               as_line_has(joiner, pinned_row(joiner, storage)))});
    }
    buffer->offset = row->is_pinned ? row->offset : buffer->offset;
    buffer->is_pinned = buffer->is_pinned || row->is_pinned;
    return true;
}

static bool join_memory(const Joiner *joiner, size_t storage, const TableRow *row) {
    uint32_t *memory = &joiner->out->memory[storage];
    Arena *arena = &joiner->work->keep;
    if (row->memory != 0 && *memory != 0 && row->memory != *memory) {
        Str got = joiner->table->memory[row->memory], other = joiner->table->memory[*memory];
        return contradiction(joiner, row,
                             (DiagText){.what = "one storage has two memories",
                                        .got = arena_text(arena, "'" STR_FMT "'", STR_ARG(got)),
                                        .expected = arena_text(arena, "'" STR_FMT "', %s", STR_ARG(other),
                                                               as_line_has(joiner, row_with_memory(joiner, storage)))});
    }
    *memory = row->memory != 0 ? row->memory : *memory;
    return true;
}

static bool join_apart(const Joiner *joiner, size_t storage, const TableRow *row) {
    SolverBuffer *buffer = &joiner->out->buffer[storage];
    if (row->apart != 0 && buffer->apart != 0) {
        bool is_same = row->apart == buffer->apart;
        return contradiction(joiner, row,
                             (DiagText){.what = is_same ? "two rows share a storage and must lie apart"
                                                        : "a storage can lie apart in one group only",
                                        .hint = is_same ? "leave 'share' or 'apart' out of one of them"
                                                        : "give both groups one name, or leave one out"});
    }
    buffer->apart = row->apart != 0 ? row->apart : buffer->apart;
    return true;
}

static bool join_alignment(const Joiner *joiner, size_t storage, const TableRow *row) {
    SolverBuffer *buffer = &joiner->out->buffer[storage];
    return checked_common_multiple(buffer->align, row->align, &buffer->align) ||
           contradiction(joiner, row,
                         (DiagText){.what = "the alignments of a storage have no common multiple of 64 bits",
                                    .got = arena_text(&joiner->work->keep, "%" PRIu64 " and %" PRIu64, buffer->align,
                                                      row->align)});
}

/* A storage has the hint on which its rows agree. */
static void join_hint(SolverBuffer *buffer, const TableRow *row) {
    buffer->has_hint = buffer->has_hint && row->has_hint && buffer->hint == row->hint;
}

static bool join_row(const Joiner *joiner, size_t storage, size_t k) {
    const TableRow *row = &joiner->table->row[k];
    SolverBuffer *buffer = &joiner->out->buffer[storage];
    joiner->next[joiner->end[storage]] = k;
    joiner->end[storage] = k;
    joiner->out->of_row[k] = storage;
    buffer->size = row->size > buffer->size ? row->size : buffer->size;
    join_hint(buffer, row);
    return join_alignment(joiner, storage, row) && join_pin(joiner, storage, row) &&
           join_memory(joiner, storage, row) && join_apart(joiner, storage, row);
}

/* ---- Storages */

static void add_storage(const Joiner *joiner, size_t k) {
    const TableRow *row = &joiner->table->row[k];
    Storages *out = joiner->out;
    out->buffer[out->count] = (SolverBuffer){.size = row->size,
                                             .align = row->align,
                                             .first = row->first,
                                             .last = row->last,
                                             .gap = row->gap,
                                             .gap_count = row->gap_count,
                                             .apart = row->apart,
                                             .is_pinned = row->is_pinned,
                                             .offset = row->offset,
                                             .has_hint = row->has_hint,
                                             .hint = row->hint};
    out->memory[out->count] = row->memory;
    out->row[out->count] = k;
    out->of_row[k] = out->count;
    joiner->end[out->count] = k;
    out->count++;
}

/* Where a row lives; how many spans that is. */
static size_t live_spans(const TableRow *row, PlaceSpan *span) {
    uint64_t first = row->first;
    for (size_t k = 0; k < row->gap_count; k++) {
        span[k] = (PlaceSpan){first, row->gap[k].first};
        first = row->gap[k].last;
    }
    span[row->gap_count] = (PlaceSpan){first, row->last};
    return row->gap_count + 1;
}

/* The union of the lives of all rows, written as a range with gaps. */
static void join_lives(const Joiner *joiner, size_t storage) {
    const TableRow *row = joiner->table->row;
    const size_t *next = joiner->next;
    SolverBuffer *buffer = &joiner->out->buffer[storage];
    const size_t first = joiner->out->row[storage];
    size_t count = row[first].gap_count + 1;
    for (size_t k = next[first]; k != 0; k = next[k]) {
        count += row[k].gap_count + 1;
    }
    PlaceSpan *span = arena_array(&joiner->work->keep, PlaceSpan, count);
    count = live_spans(&row[first], span);
    for (size_t k = next[first]; k != 0; k = next[k]) {
        count += live_spans(&row[k], span + count);
    }
    count = spans_join(span, count);
    buffer->first = span[0].first;
    buffer->last = span[count - 1].last;
    buffer->gap = span;
    buffer->gap_count = count - 1;
    for (size_t k = 0; k + 1 < count; k++) {
        span[k] = (PlaceSpan){span[k].last, span[k + 1].first};
    }
}

static bool check_pin(const Joiner *joiner, size_t storage) {
    const SolverBuffer *buffer = &joiner->out->buffer[storage];
    if (!buffer->is_pinned || buffer->offset % buffer->align == 0) {
        return true;
    }
    const TableRow *row = &joiner->table->row[pinned_row(joiner, storage)];
    Arena *arena = &joiner->work->keep;
    return contradiction(joiner, row,
                         (DiagText){.what = "the offset is not aligned for all rows that share the storage",
                                    .got = arena_text(arena, "%" PRIu64, buffer->offset),
                                    .expected = arena_text(arena, "a multiple of %" PRIu64, buffer->align)});
}

static bool finish_storages(const Joiner *joiner) {
    bool good = true;
    for (size_t s = 0; s < joiner->out->count; s++) {
        if (joiner->next[joiner->out->row[s]] != 0) {
            join_lives(joiner, s);
            good = check_pin(joiner, s) && good;
        }
    }
    return good;
}

static uint32_t most_share(const Table *table) {
    uint32_t most = 0;
    for (size_t k = 0; k < table->count; k++) {
        most = table->row[k].share > most ? table->row[k].share : most;
    }
    return most;
}

bool storages_make(const Table *table, Work *work, Storages *storages) {
    *storages = (Storages){.buffer = arena_array(&work->keep, SolverBuffer, table->count),
                           .memory = arena_array(&work->keep, uint32_t, table->count),
                           .row = arena_array(&work->keep, size_t, table->count),
                           .of_row = arena_array(&work->keep, size_t, table->count)};
    Joiner joiner = {.table = table,
                     .out = storages,
                     .next = arena_array(&work->scratch, size_t, table->count),
                     .end = arena_array(&work->scratch, size_t, table->count),
                     .work = work};
    size_t *row_of_share = arena_array(&work->scratch, size_t, (size_t)most_share(table) + 1); /* plus 1 */
    bool good = true;
    for (size_t k = 0; k < table->count; k++) {
        size_t *first = &row_of_share[table->row[k].share];
        if (table->row[k].share != 0 && *first > 0) {
            good = join_row(&joiner, storages->of_row[*first - 1], k) && good;
        } else {
            *first = k + 1;
            add_storage(&joiner, k);
        }
    }
    return good && finish_storages(&joiner);
}
