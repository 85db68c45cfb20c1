/* Why `stride0 pack` has no answer: which buffers, in which memory, and what it would need. */
#include "cli/pack.h"

#include "base/checked.h"
#include "base/clean.h"
#include "solver/solver_bound.h"

#include <inttypes.h>

/* Of a set that does not fit, so many are shown. */
enum { MOST_SHOWN = 20 };

/* ---- Where, and how much */

/* The table has a memory for it, or there is one only. */
static bool is_bound_to(const Pack *pack, size_t storage, uint32_t m) {
    return pack->memory_count == 1 || m == PACK_SEVERAL ||
           (pack->storages.memory[storage] != 0 && pack->problem.where[storage] == m);
}

uint32_t pack_misfit_memory(const Pack *pack) {
    const BanksResult *result = &pack->result;
    uint32_t m = pack->memory_count == 1 || result->culprit_count == 0 ? 0 : pack->problem.where[result->culprit[0]];
    bool is_one = pack->memory_count == 1 || result->culprit_count > 0;
    for (size_t k = 0; k < result->culprit_count; k++) {
        is_one = is_one && is_bound_to(pack, result->culprit[k], m);
    }
    return result->outcome == SOLVER_INFEASIBLE && is_one ? m : PACK_SEVERAL;
}

/* False where a sum does not fit 64 bits. */
static bool add_end(const SolverBuffer *buffer, uint64_t align_bytes, uint64_t *sum) {
    uint64_t size, end;
    return checked_round_up(buffer->size, align_bytes, &size) && checked_add(*sum, size, sum) &&
           (!buffer->is_pinned || checked_add(buffer->offset, size, &end));
}

/* What is alive at once of the buffers that have to be in memory `m`, PACK_SEVERAL: in any, or lies apart, or is
 * pinned; 0 where a sum does not fit 64 bits. */
static uint64_t need_at_once(const Pack *pack, uint32_t m) {
    const uint64_t align_bytes = m == PACK_SEVERAL ? 1 : pack->memory[m].bank.align_bytes;
    const ArenaMark mark = arena_mark(pack->arena);
    SolverBuffer *buffer = arena_array(pack->arena, SolverBuffer, pack->storages.count);
    uint64_t sum = 0, bytes = 0;
    size_t count = 0;
    bool fits = true;
    for (size_t s = 0; s < pack->storages.count; s++) {
        if (is_bound_to(pack, s, m)) {
            buffer[count++] = pack->storages.buffer[s];
            fits = fits && add_end(&pack->storages.buffer[s], align_bytes, &sum);
        }
    }
    if (fits) {
        bytes = solver_bound(buffer, count, align_bytes, pack->arena).bytes;
    }
    arena_back(pack->arena, mark);
    return bytes;
}

/* ---- Given offsets that overlap */

typedef struct {
    const SolverBuffer *a, *b;
    size_t storage_a, storage_b;
    PlaceSpan steps; /* in which both are alive; empty where they have to lie apart */
} Clash;

static PlaceSpan live_span(const SolverBuffer *buffer, size_t k) {
    return (PlaceSpan){k == 0 ? buffer->first : buffer->gap[k - 1].last,
                       k == buffer->gap_count ? buffer->last : buffer->gap[k].first};
}

/* The first span in which both are alive; empty where there is none. */
static PlaceSpan common_span(const SolverBuffer *a, const SolverBuffer *b) {
    for (size_t i = 0, k = 0; i <= a->gap_count && k <= b->gap_count;) {
        const PlaceSpan of_a = live_span(a, i), of_b = live_span(b, k);
        const uint64_t first = of_a.first > of_b.first ? of_a.first : of_b.first;
        const uint64_t last = of_a.last < of_b.last ? of_a.last : of_b.last;
        if (first < last) {
            return (PlaceSpan){first, last};
        }
        i += of_a.last <= of_b.last;
        k += of_b.last < of_a.last;
    }
    return (PlaceSpan){0, 0};
}

static bool do_clash(Clash *clash) {
    const SolverBuffer *a = clash->a, *b = clash->b;
    bool is_given = a->is_pinned && b->is_pinned;
    if (!is_given || a->offset >= b->offset + b->size || b->offset >= a->offset + a->size) {
        return false;
    }
    clash->steps = common_span(a, b);
    return clash->steps.first < clash->steps.last || (a->apart != 0 && a->apart == b->apart);
}

/* Among the buffers to blame, which have to be in one memory. */
static bool find_clash(const Pack *pack, Clash *clash) {
    const BanksResult *result = &pack->result;
    const size_t count = result->culprit_count < MOST_SHOWN ? result->culprit_count : MOST_SHOWN;
    for (size_t k = 0; k < count; k++) {
        for (size_t i = 0; i < k; i++) {
            const bool is_in_order = result->culprit[i] < result->culprit[k];
            const size_t a = result->culprit[is_in_order ? i : k], b = result->culprit[is_in_order ? k : i];
            *clash = (Clash){&pack->storages.buffer[a], &pack->storages.buffer[b], a, b, {0, 0}};
            if (do_clash(clash)) {
                return true;
            }
        }
    }
    return false;
}

/* It is proven that the capacity is not enough: the next that could be is one more, in the memory's units. */
uint64_t pack_misfit_need(const Pack *pack, uint32_t m) {
    const Bank *bank = &pack->memory[m].bank;
    Clash clash;
    uint64_t need, next;
    if (bank->capacity == UINT64_MAX || find_clash(pack, &clash)) {
        return 0;
    }
    need = need_at_once(pack, m);
    need = pack->result.bank[m].bound > need ? pack->result.bank[m].bound : need;
    return checked_round_up(bank->capacity + 1, bank->align_bytes, &next) && next > need ? next : need;
}

/* ---- Lines */

static void print_pinned(const Pack *pack, size_t storage, FILE *out) {
    const TableRow *row = &pack->table.row[pack->storages.row[storage]];
    fputc('\'', out);
    clean_print(row->id, out);
    fprintf(out, "' (line %" PRIu64 ")", row->line);
}

static void print_clash(const Pack *pack, const Clash *clash, FILE *out) {
    const SolverBuffer *a = clash->a, *b = clash->b;
    const uint64_t end_a = a->offset + a->size, end_b = b->offset + b->size;
    fputs("the given offsets of ", out);
    print_pinned(pack, clash->storage_a, out);
    fputs(" and ", out);
    print_pinned(pack, clash->storage_b, out);
    fprintf(out, " overlap in bytes [%" PRIu64 ",%" PRIu64 ")", a->offset > b->offset ? a->offset : b->offset,
            end_a < end_b ? end_a : end_b);
    if (clash->steps.first < clash->steps.last) {
        fprintf(out, ", in steps [%" PRIu64 ",%" PRIu64 ")\n", clash->steps.first, clash->steps.last);
    } else {
        fputs(", and they have to lie apart\n", out);
    }
}

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

/* "12 bytes", "the 12 bytes of memory 'tcm'", or "the capacities of the memories". */
static void print_limit(const Pack *pack, uint32_t m, FILE *out) {
    if (m == PACK_SEVERAL) {
        fputs("the capacities of the memories", out);
        return;
    }
    const PackMemory *memory = &pack->memory[m];
    if (memory->bank.capacity == UINT64_MAX) {
        fputs("64 bits", out);
    } else {
        fprintf(out, "%s%s bytes", memory->name.len > 0 ? "the " : "", cli_number(pack->arena, memory->bank.capacity));
    }
    if (memory->name.len > 0) {
        fputs(" of memory '", out);
        clean_print(memory->name, out);
        fputc('\'', out);
    }
}

static void print_culprits(const Pack *pack, FILE *out) {
    const BanksResult *result = &pack->result;
    for (size_t k = 0; k < result->culprit_count && k < MOST_SHOWN; k++) {
        print_culprit(pack, result->culprit[k], out);
    }
    if (result->culprit_count > MOST_SHOWN) {
        fprintf(out, "  and %zu more: --json lists all\n", result->culprit_count - MOST_SHOWN);
    }
}

/* Of buffers that may be in several memories: what these have, where that alone is too little. */
static void print_room(const Pack *pack, FILE *out) {
    const uint64_t need = need_at_once(pack, PACK_SEVERAL);
    uint64_t room = 0, largest = 0;
    bool is_bounded = true;
    for (uint32_t m = 0; m < pack->memory_count; m++) {
        const uint64_t capacity = pack->memory[m].bank.capacity;
        is_bounded = is_bounded && checked_add(room, capacity, &room);
        largest = capacity > largest ? capacity : largest;
    }
    if (is_bounded && pack->result.culprit_count == 1) {
        fprintf(out, "  the largest memory has %s bytes\n", cli_number(pack->arena, largest));
    } else if (is_bounded && need > room) {
        fprintf(out, "  at least %s bytes are needed, all memories have %s\n", cli_number(pack->arena, need),
                cli_number(pack->arena, room));
    }
}

static void print_infeasible(const Pack *pack, FILE *out) {
    const BanksResult *result = &pack->result;
    const uint32_t m = pack_misfit_memory(pack);
    Clash clash;
    fputs("stride0: does not fit: ", out);
    if (m != PACK_SEVERAL && find_clash(pack, &clash)) {
        print_clash(pack, &clash, out);
        print_culprits(pack, out);
        return;
    }
    fputs("no placement is within ", out);
    print_limit(pack, m, out);
    if (result->culprit_count == 0) {
        fputs(": that is proven\n", out);
    } else if (result->culprit_count == 1) {
        fputs(": one buffer alone is too much\n", out);
    } else {
        fprintf(out, ": %zu buffers can't lie there together%s\n", result->culprit_count,
                result->is_least ? ", and none of them can be spared" : "; fewer of them may be to blame");
    }
    print_culprits(pack, out);
    if (m == PACK_SEVERAL) {
        print_room(pack, out);
    } else if (pack_misfit_need(pack, m) > 0) {
        fprintf(out, "  at least %s bytes are needed%s\n", cli_number(pack->arena, pack_misfit_need(pack, m)),
                pack->memory_count > 1 ? " there" : "");
    }
}

static void print_unknown(const Pack *pack, FILE *out) {
    fputs("stride0: does not fit, or is not known to: no placement within ", out);
    print_limit(pack, pack->memory_count > 1 ? PACK_SEVERAL : 0, out);
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
