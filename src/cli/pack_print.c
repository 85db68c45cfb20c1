/* The report of `stride0 pack`, for people. */
#include "cli/pack.h"

#include "base/clean.h"

#include <inttypes.h>
#include <string.h>

/* Of a set that does not fit, so many are shown. */
enum { MOST_SHOWN = 20 };

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
    print_search(pack, out);
}

/* ---- No answer */

static void print_culprit(const Pack *pack, size_t storage, FILE *out) {
    const SolverBuffer *buffer = &pack->storages.buffer[storage];
    const TableRow *row = &pack->table.row[pack->storages.row[storage]];
    fprintf(out, "  %14s  [%" PRIu64 ",%" PRIu64 ")  ", cli_number(pack->arena, buffer->size), buffer->first,
            buffer->last);
    clean_print(row->id, out);
    for (size_t k = pack->storages.row[storage] + 1; k < pack->table.count && row->share != 0; k++) {
        if (pack->storages.of_row[k] == storage) {
            fputs(" = ", out);
            clean_print(pack->table.row[k].id, out);
        }
    }
    if (buffer->is_pinned) {
        fprintf(out, " at %" PRIu64, buffer->offset);
    }
    fputc('\n', out);
}

/* "within 12 bytes", or "within the memories". */
static void print_limit(const Pack *pack, FILE *out) {
    if (pack->memory_count > 1) {
        fputs("the capacities of the memories", out);
    } else if (pack->memory[0].bank.capacity == UINT64_MAX) {
        fputs("64 bits", out);
    } else {
        fprintf(out, "%s bytes", cli_number(pack->arena, pack->memory[0].bank.capacity));
    }
}

static void print_infeasible(const Pack *pack, FILE *out) {
    const BanksResult *result = &pack->result;
    fputs("stride0: does not fit: no placement is within ", out);
    print_limit(pack, out);
    if (result->culprit_count == 0) {
        fputs(": that is proven\n", out);
        return;
    }
    if (result->culprit_count == 1) {
        fputs(": one buffer alone is too much\n", out);
    } else {
        fprintf(out, ": %zu buffers can't lie there together%s\n", result->culprit_count,
                result->is_least ? ", and none of them can be spared" : "; fewer of them may be to blame");
    }
    for (size_t k = 0; k < result->culprit_count && k < MOST_SHOWN; k++) {
        print_culprit(pack, result->culprit[k], out);
    }
    if (result->culprit_count > MOST_SHOWN) {
        fprintf(out, "  and %zu more: --json lists all\n", result->culprit_count - MOST_SHOWN);
    }
}

static void print_unknown(const Pack *pack, FILE *out) {
    fputs("stride0: does not fit, or is not known to: no placement within ", out);
    print_limit(pack, out);
    fputs(" was found before the search ended\n", out);
    for (uint32_t m = 0; m < pack->memory_count; m++) {
        const SolverResult *solved = &pack->result.bank[m];
        if (solved->outcome == SOLVER_FOUND || !solved->is_placed) {
            continue;
        }
        fputs("  ", out);
        clean_print(pack->memory[m].name, out);
        fprintf(out, "%sthe lowest found takes %s bytes; %s are needed at least\n", pack->has_names ? ": " : "",
                cli_number(pack->arena, solved->height), cli_number(pack->arena, solved->bound));
    }
    fprintf(out, "  do: raise %s--nodes or --time-limit\n", pack->memory_count > 1 ? "a capacity, " : "");
}

void pack_print_misfit(const Pack *pack, FILE *errors) {
    if (pack->result.outcome == SOLVER_INFEASIBLE) {
        print_infeasible(pack, errors);
    } else {
        print_unknown(pack, errors);
    }
}
