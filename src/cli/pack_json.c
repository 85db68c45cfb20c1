/* The answer of `stride0 pack` as JSON: docs/json.md. */
#include "base/checked.h"
#include "base/json.h"
#include "cli/pack.h"

static void member_bytes(Json *json, const char *key, uint64_t bytes, bool is_known) {
    if (is_known) {
        json_member_u64(json, key, bytes);
    } else {
        json_member_null(json, key);
    }
}

/* Sums over memories: null where there is no answer, or where one is not of 64 bits. */
static void write_sums(Json *json, const Pack *pack) {
    uint64_t height = 0, bound = 0;
    bool is_known = pack->result.is_placed;
    for (uint32_t m = 0; m < pack->memory_count && is_known; m++) {
        is_known = checked_add(height, pack->result.bank[m].height, &height) &&
                   checked_add(bound, pack->result.bank[m].bound, &bound);
    }
    const bool is_only = pack->memory_count == 1 && pack_misfit_memory(pack) == 0;
    bound = is_only ? pack_misfit_need(pack, 0) : bound;
    member_bytes(json, "height_bytes", height, is_known);
    member_bytes(json, "lower_bound_bytes", bound, is_known || (is_only && bound > 0));
}

static void write_memory(Json *json, const Pack *pack, uint32_t m) {
    const PackMemory *memory = &pack->memory[m];
    const SolverResult *solved = &pack->result.bank[m];
    const bool is_known = pack->result.is_placed, is_to_blame = pack_misfit_memory(pack) == m;
    const uint64_t bound = is_to_blame ? pack_misfit_need(pack, m) : solved->bound;
    json_object_inline(json);
    json_member_str(json, "name", memory->name);
    member_bytes(json, "capacity_bytes", memory->bank.capacity, memory->bank.capacity != UINT64_MAX);
    json_member_u64(json, "align_bytes", memory->bank.align_bytes);
    json_member_u64(json, "price", memory->bank.price);
    member_bytes(json, "height_bytes", solved->height, is_known);
    member_bytes(json, "lower_bound_bytes", bound, is_known || (is_to_blame && bound > 0));
    json_member_bool(json, "fits", is_known && solved->outcome == SOLVER_FOUND);
    json_member_bool(json, "optimal", is_known && solved->is_optimal);
    json_member_text(json, "method", is_known ? solved->method : NULL);
    json_member_text(json, "proof", is_known && solved->is_optimal ? solved->proof : NULL);
    json_end(json);
}

static void write_buffer(Json *json, const Pack *pack, const TableRow *row, size_t storage) {
    const SolverBuffer *buffer = &pack->storages.buffer[storage];
    json_object_inline(json);
    json_member_str(json, "id", row->id);
    json_member_u64(json, "first", row->first);
    json_member_u64(json, "last", row->last);
    json_member_u64(json, "size_bytes", row->size);
    if (pack->result.is_placed) {
        json_member_str(json, "memory", pack_memory_of(pack, storage)->name);
    } else {
        json_member_null(json, "memory");
    }
    member_bytes(json, "offset", buffer->offset, pack->result.is_placed);
    json_end(json);
}

/* Of each storage the first row stands for all. */
static void write_culprits(Json *json, const Pack *pack) {
    json_key(json, "culprits");
    json_array_inline(json);
    for (size_t k = 0; k < pack->result.culprit_count; k++) {
        json_str(json, pack->table.row[pack->storages.row[pack->result.culprit[k]]].id);
    }
    json_end(json);
}

static void write_lists(Json *json, const Pack *pack) {
    json_key(json, "memories");
    json_array(json);
    for (uint32_t m = 0; m < pack->memory_count; m++) {
        write_memory(json, pack, m);
    }
    json_end(json);
    write_culprits(json, pack);
    json_member_bool(json, "culprits_are_least", pack->result.is_least);
    json_key(json, "buffers");
    json_array(json);
    for (size_t k = 0; k < pack->table.count; k++) {
        write_buffer(json, pack, &pack->table.row[k], pack->storages.of_row[k]);
    }
    json_end(json);
}

void pack_print_json(FILE *out, const void *data) {
    const Pack *pack = data;
    Json json;
    json_init(&json, out);
    json_object(&json);
    json_member_u64(&json, "schema", 1);
    json_member_text(&json, "file", pack->file);
    json_member_text(&json, "status", pack_status_name(pack_status(pack)));
    write_sums(&json, pack);
    json_member_u64(&json, "nodes", pack->result.nodes);
    json_key(&json, "seconds");
    json_double(&json, (double)(uint64_t)(pack->seconds * 1e6) / 1e6);
    json_member_bool(&json, "end_is_included", pack->table.includes_end);
    member_bytes(&json, "cost", pack->result.cost, pack->result.is_placed);
    json_member_bool(&json, "cheapest", pack->result.is_placed && pack->result.is_cheapest);
    json_member_text(&json, "assignment", pack->result.how);
    json_member_u64(&json, "storages", pack->storages.count);
    write_lists(&json, pack);
    json_end(&json);
}
