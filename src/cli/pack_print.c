/* The report of `stride0 pack`, for people. */
#include "cli/pack.h"

#include "base/clean.h"
#include "solver/solver_pins.h"

#include <inttypes.h>
#include <string.h>

const PackMemory *pack_memory_of(const Pack *pack, size_t storage) {
    return &pack->memory[pack->problem.where[storage]];
}

PackStatus pack_status(const Pack *pack) {
    const BanksResult *result = &pack->result;
    if (result->outcome != SOLVER_FOUND) {
        return result->outcome == SOLVER_INFEASIBLE ? PACK_INFEASIBLE : PACK_UNKNOWN;
    }
    bool is_optimal = result->is_cheapest;
    for (uint32_t m = 0; m < pack->memory_count; m++) {
        is_optimal = is_optimal && result->bank[m].is_optimal;
    }
    return is_optimal ? PACK_OPTIMAL : PACK_FEASIBLE;
}

const char *pack_status_name(PackStatus status) {
    static const char *const NAME[] = {[PACK_OPTIMAL] = "optimal",
                                       [PACK_FEASIBLE] = "feasible",
                                       [PACK_INFEASIBLE] = "infeasible",
                                       [PACK_UNKNOWN] = "unknown"};
    return NAME[status];
}

static const char *plural(uint64_t count) {
    return count == 1 ? "" : "s";
}

/* ---- Figures of one memory */

static void print_proof(const Pack *pack, const SolverResult *solved, FILE *out) {
    const uint64_t gap = solved->height - solved->bound;
    if (solved->is_optimal) {
        bool is_searched = solved->proof != NULL && strcmp(solved->proof, "search") == 0;
        fputs(is_searched ? "optimal: the search is exhausted" : "optimal: it is the lower bound", out);
    } else {
        fprintf(out, "%s; the lower bound is %s, %.1f %% less",
                pack->problem.options.is_minimised ? "not proven to be the lowest" : "the lowest was not asked for",
                cli_number(pack->arena, solved->bound), 100.0 * (double)gap / (double)solved->height);
    }
}

static void print_capacity(const Pack *pack, uint32_t m, FILE *out) {
    const uint64_t capacity = pack->memory[m].bank.capacity, height = pack->result.bank[m].height;
    if (capacity == UINT64_MAX) {
        return;
    }
    fprintf(out, "capacity   %s bytes, %s %s\n", cli_number(pack->arena, capacity),
            cli_number(pack->arena, height <= capacity ? capacity - height : height - capacity),
            height <= capacity ? "free" : "too few");
}

static void print_only_memory(const Pack *pack, FILE *out) {
    const SolverResult *solved = &pack->result.bank[0];
    fprintf(out, "height     %s byte%s, ", cli_number(pack->arena, solved->height), plural(solved->height));
    print_proof(pack, solved, out);
    fputc('\n', out);
    print_capacity(pack, 0, out);
}

/* ---- Several memories */

static size_t count_in(const Pack *pack, uint32_t memory) {
    size_t count = 0;
    for (size_t k = 0; k < pack->table.count; k++) {
        count += pack->problem.where[pack->storages.of_row[k]] == memory;
    }
    return count;
}

static void print_memory(const Pack *pack, uint32_t m, FILE *out) {
    const PackMemory *memory = &pack->memory[m];
    const SolverResult *solved = &pack->result.bank[m];
    const size_t count = count_in(pack, m);
    bool is_bounded = memory->bank.capacity != UINT64_MAX;
    fputs("memory     ", out);
    clean_print(memory->name, out);
    fprintf(out, ": %zu buffer%s, height %s%s%s byte%s, price %" PRIu64, count, plural(count),
            cli_number(pack->arena, solved->height), is_bounded ? " of " : "",
            is_bounded ? cli_number(pack->arena, memory->bank.capacity) : "",
            plural(is_bounded ? memory->bank.capacity : solved->height), memory->bank.price);
    if (count > 0) {
        fputs(", ", out);
        print_proof(pack, solved, out);
    }
    fputc('\n', out);
}

static void print_memories(const Pack *pack, FILE *out) {
    const BanksResult *result = &pack->result;
    for (uint32_t m = 0; m < pack->memory_count; m++) {
        print_memory(pack, m, out);
    }
    fprintf(out, "cost       %s: bytes times the price of their memory; %s\n", cli_number(pack->arena, result->cost),
            !result->is_cheapest    ? "buffers were spread by rule, which need not be the cheapest"
            : result->how[0] == 'g' ? "each buffer is where the table has it"
                                    : "no assignment costs less");
}

/* ---- Hints */

/* The storages of a memory, each pinned where its hint proposes; how many free ones have none. */
typedef struct {
    SolverBuffer *buffer;
    size_t *storage;
    size_t count, hinted, unhinted;
} Hinted;

static Hinted hinted_in(const Pack *pack, uint32_t m) {
    Hinted all = {.buffer = arena_array(pack->arena, SolverBuffer, pack->storages.count),
                  .storage = arena_array(pack->arena, size_t, pack->storages.count)};
    for (size_t s = 0; s < pack->storages.count; s++) {
        SolverBuffer buffer = pack->storages.buffer[s];
        if (pack->problem.where[s] != m) {
            continue;
        }
        all.hinted += !buffer.is_pinned && buffer.has_hint;
        all.unhinted += !buffer.is_pinned && !buffer.has_hint;
        buffer.offset = buffer.is_pinned ? buffer.offset : buffer.hint;
        buffer.is_pinned = true;
        all.storage[all.count] = s;
        all.buffer[all.count++] = buffer;
    }
    return all;
}

static void print_id(const Pack *pack, size_t storage, FILE *out) {
    clean_print(pack->table.row[pack->storages.row[storage]].id, out);
}

static void print_hints_of(const Pack *pack, uint32_t m, FILE *out) {
    const Hinted all = hinted_in(pack, m);
    PinClash clash = {0};
    if (all.hinted > 0 && all.unhinted == 0) {
        clash = solver_pins_clash(all.buffer, all.count, pack->memory[m].bank.align_bytes, pack->arena);
    }
    if (all.hinted == 0 || (all.unhinted == 0 && !clash.is_found)) {
        return;
    }
    fputs("hints      ", out);
    if (pack->memory[m].name.len > 0) {
        clean_print(pack->memory[m].name, out);
        fputs(": ", out);
    }
    if (all.unhinted > 0) {
        fprintf(out, "not used: %zu of %zu free buffers ha%s none\n", all.unhinted, all.unhinted + all.hinted,
                all.unhinted == 1 ? "s" : "ve");
        return;
    }
    const bool is_in_order = clash.a <= clash.b;
    fputs("not used: they are no placement, see '", out);
    print_id(pack, all.storage[is_in_order ? clash.a : clash.b], out);
    if (clash.a != clash.b) {
        fputs("' and '", out);
        print_id(pack, all.storage[is_in_order ? clash.b : clash.a], out);
    }
    fputs("'\n", out);
}

/* A placement that is proposed is looked at where it is whole and right. */
static void print_hints(const Pack *pack, FILE *out) {
    const ArenaMark mark = arena_mark(pack->arena);
    for (uint32_t m = 0; m < pack->memory_count; m++) {
        print_hints_of(pack, m, out);
    }
    arena_back(pack->arena, mark);
}

/* ---- The whole */

static void print_search(const Pack *pack, FILE *out) {
    fprintf(out, "search     %s nodes, %.3f s", cli_number(pack->arena, pack->result.nodes), pack->seconds);
    for (uint32_t m = 0; m < pack->memory_count; m++) {
        const SolverResult *solved = &pack->result.bank[m];
        if (pack->memory_count == 1 && solved->method != NULL) {
            fprintf(out, ", found by %s", solved->method);
        }
        if (pack->memory_count == 1 && solved->is_optimal && solved->proof != NULL) {
            fprintf(out, ", proven by %s", solved->proof);
        }
    }
    fputc('\n', out);
}

void pack_print(const Pack *pack, FILE *out) {
    const Table *table = &pack->table;
    fprintf(out, "buffers    %s", cli_number(pack->arena, table->count));
    if (pack->storages.count < table->count) {
        fprintf(out, " in %s storage%s", cli_number(pack->arena, pack->storages.count), plural(pack->storages.count));
    }
    fputs(table->includes_end ? "; the last step is included: the column is 'end'\n"
                              : "; the last step is not included: the column is 'upper'\n",
          out);
    if (pack->has_names) {
        print_memories(pack, out);
    } else {
        print_only_memory(pack, out);
    }
    if (table->field[TABLE_HINT] != TABLE_ABSENT) {
        print_hints(pack, out);
    }
    print_search(pack, out);
}
