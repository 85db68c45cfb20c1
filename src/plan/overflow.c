/* What a memory has no room for goes to the further memories that take its overflow, where a byte is cheapest. Which
 * storages stay and which go is banks/banks.h's search. It is asked where a plan is settled, not for its drafts: all of
 * them are compared by what lies in one memory. */
#include "plan/builder.h"

#include "banks/banks.h"
#include "base/checked.h"
#include "base/fault.h"
#include "place/judge.h"

/* A memory, number 0, and those that take its overflow: the banks. */
typedef struct {
    Plan *plan;
    uint32_t memory[DEVICE_MAX_MEMORIES];
    Bank bank[DEVICE_MAX_MEMORIES];
    BanksProblem problem;
    BufferId *storage; /* that each buffer of the problem is */
} Spill;

static Spill spill_new(Plan *plan, uint32_t first, uint64_t capacity_bytes, Arena *scratch) {
    const Device *device = plan->device;
    Spill spill = {.plan = plan, .storage = arena_array(scratch, BufferId, plan->buffer_count)};
    uint32_t count = 0;
    spill.memory[count++] = first;
    for (uint32_t m = 0; m < device->memory_count; m++) {
        if (m != first && device_first(device, m) == first) {
            spill.memory[count++] = m;
        }
    }
    for (uint32_t b = 0; b < count; b++) {
        const DeviceMemory *memory = &device->memory[spill.memory[b]];
        spill.bank[b] = (Bank){b == 0 ? capacity_bytes : memory->bytes, memory->align_bytes, memory->price};
    }
    spill.problem = (BanksProblem){
        .bank_count = count,
        .buffer = arena_array(scratch, SolverBuffer, plan->buffer_count),
        .where = arena_array(scratch, uint32_t, plan->buffer_count),
        .options = {.is_minimised = true, .most_nodes = PLACE_MOST_NODES, .threads = 1},
    };
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
static void tell_unused(const Spill *spill) {
    for (uint32_t b = 1; b < spill->problem.bank_count; b++) {
        spill->plan->overflow[spill->memory[b]].is_cheapest = true;
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
static void write_back(const Spill *spill, const BanksResult *result) {
    Plan *plan = spill->plan;
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
static bool run(Spill *spill, Arena *scratch, BanksResult *result) {
    spill->problem.bank = spill->bank;
    if (!banks_run(&spill->problem, scratch, scratch, result) || result->outcome != SOLVER_FOUND) {
        return false;
    }
    judge(spill, result, scratch);
    write_back(spill, result);
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

void overflow_local(Plan *plan, Work *work) {
    Arena *scratch = &work->scratch;
    Spill spill = spill_new(plan, plan->device->local, plan->capacity_bytes, scratch);
    BanksResult result;
    if (!has_use(&spill, plan_local_fits(plan))) {
        tell_unused(&spill);
        return;
    }
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        if (buffer_is_local_storage(plan, (BufferId){i})) {
            add_storage(&spill, (BufferId){i}, plan->buffers[i].physical_bytes);
        }
    }
    if (run(&spill, scratch, &result)) {
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
    Spill spill = spill_new(plan, plan->device->backing, plan->backing_capacity_bytes, scratch);
    BanksResult result;
    if (!has_use(&spill, plan_backing_fits(plan))) {
        tell_unused(&spill);
        return;
    }
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *buffer = &plan->buffers[i];
        uint64_t bytes = 0;
        bool is_there = buffer->memory == plan->device->backing && !is_buffer(buffer->alias_of);
        CHECK(!is_there || buffer_backing_bytes(plan, buffer, &bytes)); /* the planner has laid them there */
        add_storage(&spill, (BufferId){i}, bytes);
    }
    if (run(&spill, scratch, &result)) {
        plan->backing_bytes = first_end(&spill);
        plan->far_maps_bytes = far_maps_at_once(&spill, scratch);
        place_aliases(plan, scratch);
    }
}
