/* What a memory has no room for goes to the further memories that take its overflow, where a byte is cheapest. Which
 * storages stay and which go is banks/banks.h's search. It is asked where a plan is settled, not for its drafts: all of
 * them are compared by what lies in one memory. */
#include "plan/builder.h"

#include "banks/banks.h"
#include "base/checked.h"
#include "base/fault.h"
#include "place/judge.h"
#include "solver/solver_bound.h"

/* A memory, number 0, and those that take its overflow: the banks. */
typedef struct {
    const Plan *plan;
    uint32_t memory[DEVICE_MAX_MEMORIES];
    Bank bank[DEVICE_MAX_MEMORIES];
    BanksProblem problem;
    BufferId *storage; /* that each buffer of the problem is */
} Spill;

static void add_bank(Spill *spill, uint32_t m, uint64_t capacity_bytes) {
    const DeviceMemory *memory = &spill->plan->device->memory[m];
    spill->memory[spill->problem.bank_count] = m;
    spill->bank[spill->problem.bank_count++] = (Bank){capacity_bytes, memory->align_bytes, memory->price};
}

static Spill spill_new(const Plan *plan, uint32_t first, Arena *scratch) {
    const Device *device = plan->device;
    Spill spill = {.plan = plan, .storage = arena_array(scratch, BufferId, plan->buffer_count)};
    spill.problem = (BanksProblem){
        .buffer = arena_array(scratch, SolverBuffer, plan->buffer_count),
        .where = arena_array(scratch, uint32_t, plan->buffer_count),
        .options = {.is_minimised = true, .most_nodes = PLACE_MOST_NODES, .threads = 1},
    };
    add_bank(&spill, first, first == device->local ? plan->capacity_bytes : plan->backing_capacity_bytes);
    for (uint32_t m = 0; m < device->memory_count; m++) {
        if (m != first && device_first(device, m) == first) {
            add_bank(&spill, m, device->memory[m].bytes);
        }
    }
    return spill;
}

/* Is there another memory, and something to be gained from it? */
static bool has_use(const Spill *spill, bool fits) {
    for (uint32_t b = 1; b < spill->problem.bank_count; b++) {
        if (!fits || spill->bank[b].price < spill->bank[0].price) {
            return true;
        }
    }
    return false;
}

/* All stays where a byte costs least. */
static void tell_unused(const Spill *spill, Plan *plan) {
    for (uint32_t b = 1; b < spill->problem.bank_count; b++) {
        plan->overflow[spill->memory[b]].is_cheapest = true;
    }
}

/* Nothing of the judge's is known to the search. */
static void judge(const Spill *spill, const BanksResult *result, Arena *scratch) {
    const BanksProblem *problem = &spill->problem;
    JudgedBuffer *buffer = arena_array(scratch, JudgedBuffer, problem->count);
    JudgedMemory *memory = arena_array(scratch, JudgedMemory, problem->bank_count);
    for (size_t i = 0; i < problem->count; i++) {
        const SolverBuffer *from = &problem->buffer[i];
        buffer[i] = (JudgedBuffer){.size = from->size,
                                   .align = from->align,
                                   .first = from->first,
                                   .last = from->last,
                                   .required = JUDGE_ANY_MEMORY,
                                   .memory = problem->where[i],
                                   .offset = from->offset};
    }
    for (uint32_t b = 0; b < problem->bank_count; b++) {
        const SolverResult *of = &result->bank[b];
        memory[b] = (JudgedMemory){spill->bank[b].align_bytes, spill->bank[b].capacity, of->height, of->bound, true};
    }
    JudgedAnswer answer = {buffer, problem->count, memory, problem->bank_count};
    CHECK(place_judge_answer(&answer, scratch).verdict == JUDGE_RIGHT);
}

/* Storages get their memory and offset, aliases the memory of their storage. */
static void write_back(const Spill *spill, const BanksResult *result, Plan *plan) {
    const BanksProblem *problem = &spill->problem;
    for (uint32_t b = 1; b < problem->bank_count; b++) {
        plan->overflow[spill->memory[b]] = (PlanOverflow){.placed_bytes = result->bank[b].height,
                                                          .lower_bound_bytes = result->bank[b].bound,
                                                          .is_cheapest = result->is_cheapest};
    }
    for (size_t i = 0; i < problem->count; i++) {
        Buffer *buffer = plan_buffer(plan, spill->storage[i]);
        buffer->memory = spill->memory[problem->where[i]];
        buffer->offset = problem->buffer[i].offset;
        PlanOverflow *there = &plan->overflow[buffer->memory];
        there->storage_count += problem->where[i] > 0;
        there->physical_bytes += problem->where[i] > 0 ? problem->buffer[i].size : 0;
    }
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        plan->buffers[i].memory = plan_buffer(plan, plan->buffers[i].storage)->memory;
    }
}

/* False, with the plan as it was, where the memories are not enough or a sum does not fit 64 bits. */
static bool run(Spill *spill, Plan *plan, Arena *scratch, BanksResult *result) {
    spill->problem.bank = spill->bank;
    if (!banks_run(&spill->problem, scratch, scratch, result) || result->outcome != SOLVER_FOUND) {
        return false;
    }
    judge(spill, result, scratch);
    write_back(spill, result, plan);
    return true;
}

/* Of `bytes`, for its storage's steps. */
static void add_storage(Spill *spill, BufferId id, uint64_t bytes) {
    const Buffer *buffer = plan_buffer(spill->plan, id);
    BanksProblem *problem = &spill->problem;
    if (bytes > 0) {
        spill->storage[problem->count] = id;
        problem->where[problem->count] = BANK_ANY;
        problem->buffer[problem->count++] = (SolverBuffer){
            .size = bytes, .align = buffer->align_bytes, .first = buffer->storage_first, .last = buffer->storage_last};
    }
}

static void add_storages(Spill *spill) {
    const Plan *plan = spill->plan;
    const bool is_local = spill->memory[0] == plan->device->local;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *buffer = &plan->buffers[i];
        bool is_there = buffer->memory == spill->memory[0] && !is_buffer(buffer->alias_of);
        uint64_t bytes = is_there ? buffer->physical_bytes : 0;
        /* the planner has laid them there */
        CHECK(!is_there || is_local || buffer_backing_bytes(plan, buffer, &bytes));
        add_storage(spill, (BufferId){i}, bytes);
    }
}

void overflow_local(Plan *plan, Work *work) {
    Arena *scratch = &work->scratch;
    Spill spill = spill_new(plan, plan->device->local, scratch);
    BanksResult result;
    if (!has_use(&spill, plan_local_fits(plan))) {
        tell_unused(&spill, plan);
        return;
    }
    add_storages(&spill);
    if (run(&spill, plan, scratch, &result)) {
        plan->placed_bytes = result.bank[0].height;
        plan->lower_bound_bytes = result.bank[0].bound;
        plan_sum(plan, scratch);
        place_aliases(plan, scratch);
    }
}

/* Where the last storage ends that stayed: what lies behind local memory is not rounded up. */
static uint64_t first_end(const Spill *spill) {
    const BanksProblem *problem = &spill->problem;
    uint64_t end = 0;
    for (size_t i = 0; i < problem->count; i++) {
        uint64_t own_end = problem->buffer[i].offset + problem->buffer[i].size;
        end = problem->where[i] == 0 && own_end > end ? own_end : end;
    }
    return end;
}

/* What the maps that stayed in far memory take there at once, in its units. */
static uint64_t far_maps_at_once(const Spill *spill, Arena *scratch) {
    const BanksProblem *problem = &spill->problem;
    PlaceProblem maps = {.align_bytes = spill->bank[0].align_bytes,
                         .buffer = arena_array(scratch, PlaceBuffer, problem->count)};
    uint64_t bytes;
    for (size_t i = 0; i < problem->count; i++) {
        const SolverBuffer *from = &problem->buffer[i];
        if (problem->where[i] == 0 && buffer_is_far_map(spill->plan, plan_buffer(spill->plan, spill->storage[i]))) {
            maps.buffer[maps.count++] =
                (PlaceBuffer){.size = from->size, .align = 1, .first = from->first, .last = from->last};
        }
    }
    CHECK(place_bound(&maps, scratch, &bytes, NULL)); /* they are placed */
    return bytes;
}

void overflow_backing(Plan *plan, Work *work) {
    Arena *scratch = &work->scratch;
    Spill spill = spill_new(plan, plan->device->backing, scratch);
    BanksResult result;
    if (!has_use(&spill, plan_backing_fits(plan))) {
        tell_unused(&spill, plan);
        return;
    }
    add_storages(&spill);
    if (run(&spill, plan, scratch, &result)) {
        plan->backing_bytes = first_end(&spill);
        plan->far_maps_bytes = far_maps_at_once(&spill, scratch);
        place_aliases(plan, scratch);
    }
}

/* ---- What would do, where nothing fits */

/* Is there a way with so much in bank `b`, and how much of it does that take? The plan stays as it is. */
static bool has_way(Spill *spill, uint32_t b, uint64_t capacity, Arena *scratch, uint64_t *height) {
    const ArenaMark mark = arena_mark(scratch);
    const uint64_t given = spill->bank[b].capacity;
    BanksResult result;
    spill->bank[b].capacity = capacity;
    spill->problem.bank = spill->bank;
    for (size_t i = 0; i < spill->problem.count; i++) {
        spill->problem.where[i] = BANK_ANY;
    }
    bool has = banks_run(&spill->problem, scratch, scratch, &result) && result.outcome == SOLVER_FOUND;
    *height = has ? result.bank[b].height : UINT64_MAX;
    spill->bank[b].capacity = given;
    arena_back(scratch, mark);
    return has;
}

/* No capacity of bank `b` below this is enough: the others hold no more than theirs of what is alive at once. */
static uint64_t least_of(const Spill *spill, uint32_t b, Arena *scratch) {
    uint64_t bytes = solver_bound(spill->problem.buffer, spill->problem.count, 1, scratch).bytes;
    for (uint32_t k = 0; k < spill->problem.bank_count; k++) {
        uint64_t capacity = k == b ? 0 : spill->bank[k].capacity;
        bytes = bytes > capacity ? bytes - capacity : 0;
    }
    return bytes;
}

/* What bank `b` lacks: by halves between what is too little and what is enough, in its units. */
static uint64_t lack_of(Spill *spill, uint32_t b, Arena *scratch) {
    enum { MOST_TRIES = 16 };
    const uint64_t unit = spill->bank[b].align_bytes, given = spill->bank[b].capacity;
    uint64_t enough, least = least_of(spill, b, scratch) / unit, height;
    if (given == UINT64_MAX || !has_way(spill, b, UINT64_MAX, scratch, &enough) || enough <= given) {
        return UINT64_MAX;
    }
    enough = enough / unit + (enough % unit != 0);
    least = least > given / unit ? least : given / unit + 1;
    for (uint64_t at = least, try = 0; at < enough && try < MOST_TRIES; try++) {
        bool has = has_way(spill, b, at * unit, scratch, &height);
        enough = has ? at : enough;
        least = has ? least : at + 1;
        at = least + (enough - least) / 2;
    }
    return enough * unit - given;
}

void overflow_lack(const Plan *plan, uint32_t first, uint64_t lack[DEVICE_MAX_MEMORIES], Work *work) {
    Spill spill = spill_new(plan, first, &work->scratch);
    add_storages(&spill);
    for (uint32_t b = 0; b < spill.problem.bank_count; b++) {
        lack[spill.memory[b]] = lack_of(&spill, b, &work->scratch);
    }
}

bool plan_fits_with_overflow(const Plan *plan, uint32_t first, uint32_t memory, Work *work) {
    Spill spill = spill_new(plan, first, &work->scratch);
    uint64_t height;
    add_storages(&spill);
    add_bank(&spill, memory, plan->device->memory[memory].bytes);
    return has_way(&spill, 0, spill.bank[0].capacity, &work->scratch, &height);
}

bool plan_has_overflow(const Plan *plan, uint32_t first) {
    for (uint32_t m = 0; m < plan->device->memory_count; m++) {
        if (m != first && device_first(plan->device, m) == first) {
            return true;
        }
    }
    return false;
}

uint64_t plan_placed_further(const Plan *plan) {
    uint64_t bytes = 0;
    for (uint32_t m = 0; m < plan->device->memory_count; m++) {
        bytes = checked_add(bytes, plan->overflow[m].placed_bytes, &bytes) ? bytes : UINT64_MAX;
    }
    return bytes;
}
