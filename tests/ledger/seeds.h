/* Seeded faults as a table: a network and how it is planned, what is spoiled of its plan or its program, and who must
 * find it. A row is run on every scratchpad; its seed is asked for one fault after another until there is none left.
 * Before that the same is run as it is, and nothing may be found. */
#ifndef S0_TESTS_LEDGER_SEEDS_H
#define S0_TESTS_LEDGER_SEEDS_H

#include "ledger/seeded.h"

#define ANY (UINT32_MAX - 1)

/* What must be found. */
typedef struct {
    uint32_t found;  /* set of FOUND_…, all of them */
    uint32_t one_of; /* set of FOUND_…, one of them; 0: does not matter */
    bool has_fault;  /* one of this kind, at this command, buffer and byte, or ANY */
    SimFaultKind kind;
    uint32_t command, buffer;
    uint64_t byte;
    const char *what; /* a difference of `buffer`, told with these; null */
    uint64_t planned, measured;
} Expected;

/* A fault that is seeded in the plan and expected once its program is known. */
typedef struct {
    BufferId victim, thief; /* whose bytes the thief takes; NO_BUFFER */
    uint64_t bytes;         /* of the victim, before */
    Expected expected;
} Seed;

/* False where there is no fault of this number. */
typedef bool SeedFunction(Seeded *seeded, uint32_t which, Seed *seed);

typedef struct {
    const char *name;
    Net net;
    PlanOptions options;
    SeedFunction *in_plan;    /* null: nothing */
    SeedFunction *in_program; /* spoils, or tells what is expected */
    const char *harmless_on;  /* a device where it is no fault; null */
} SeedRow;

static inline bool has_fault(const Seeded *seeded, const Expected *expected) {
    const SimResult *result = seeded->audit.result;
    for (uint32_t k = 0; k < result->kept_faults; k++) {
        const SimFault *fault = &result->fault[k];
        if (fault->kind == expected->kind && (expected->command == ANY || fault->command == expected->command) &&
            (expected->buffer == ANY || fault->buffer == expected->buffer) &&
            (expected->byte == ANY || fault->byte == expected->byte)) {
            return true;
        }
    }
    return false;
}

static inline bool has_difference(const Seeded *seeded, const Expected *expected) {
    for (uint32_t k = 0; k < seeded->audit.difference_count; k++) {
        const AuditDifference *found = &seeded->audit.differences[k];
        if (strcmp(found->what, expected->what) == 0 && found->buffer == expected->buffer &&
            found->planned == expected->planned && found->measured == expected->measured) {
            return true;
        }
    }
    return false;
}

static inline void tell(const Seeded *seeded, const Expected *expected) {
    const Audit *audit = &seeded->audit;
    print_error("expected 0x%x, one of 0x%x; fault %d %s: command %d buffer %d byte %d; %s %" PRIu64
                ", measured %" PRIu64 "\nfound 0x%x, %u wrong elements\n",
                (unsigned)expected->found, (unsigned)expected->one_of, (int)expected->has_fault,
                sim_fault_name(expected->kind), (int)expected->command, (int)expected->buffer, (int)expected->byte,
                expected->what == NULL ? "" : expected->what, expected->planned, expected->measured,
                (unsigned)seeded_found(seeded), (unsigned)seeded->wrong_elements);
    for (uint32_t k = 0; k < audit->result->kept_faults; k++) {
        const SimFault *fault = &audit->result->fault[k];
        print_error("%s: command %d, other %d, buffer %u, lane %" PRIu64 " byte %" PRIu64 ": %s\n",
                    sim_fault_name(fault->kind), (int)fault->command, (int)fault->other, (unsigned)fault->buffer,
                    fault->lane, fault->byte, fault->text);
    }
    for (uint32_t k = 0; k < audit->difference_count; k++) {
        const AuditDifference *found = &audit->differences[k];
        print_error("%s of " STR_FMT " (%d): %" PRIu64 ", measured %" PRIu64 "\n", found->what, STR_ARG(found->where),
                    (int)found->buffer, found->planned, found->measured);
    }
}

static inline bool is_as_expected(const Seeded *seeded, const Expected *expected) {
    uint32_t found = seeded_found(seeded);
    return found != 0 && (found & expected->found) == expected->found &&
           (expected->one_of == 0 || (found & expected->one_of) != 0) &&
           (!expected->has_fault || has_fault(seeded, expected)) &&
           (expected->what == NULL || has_difference(seeded, expected));
}

static inline bool try_seed(Work *work, const SeedRow *row, const char *device, uint32_t which) {
    Seeded seeded = seeded_plan(row->net, device, row->options, work);
    Seed seed = {.victim = NO_BUFFER, .thief = NO_BUFFER};
    if (row->in_plan != NULL && !row->in_plan(&seeded, which, &seed)) {
        return false;
    }
    seeded_build(&seeded);
    if (row->in_program != NULL && !row->in_program(&seeded, which, &seed)) {
        return false;
    }
    seeded_run(&seeded);
    if (!is_as_expected(&seeded, &seed.expected)) {
        tell(&seeded, &seed.expected);
        fail_msg("%s, %s, number %u", device, row->name, (unsigned)which);
    }
    return true;
}

static inline bool run_seed(const SeedRow *row, const char *device, uint32_t which) {
    Work work;
    WORK_BEGIN(&work);
    bool more = try_seed(&work, row, device, which);
    work_free(&work);
    return more;
}

static inline void run_row(const SeedRow *row, const char *device) {
    bool is_fault = row->harmless_on == NULL || strcmp(row->harmless_on, device) != 0;
    uint32_t seeds = 0;
    seeded_expect_clean(row->net, device, row->options);
    while (is_fault && run_seed(row, device, seeds)) {
        seeds++;
    }
    print_message("%s, %s: %u\n", device, row->name, (unsigned)seeds);
    assert_true(seeds > 0 || !is_fault);
}

static inline void run_rows(const SeedRow *rows, size_t count) {
    for (size_t d = 0; d < SCRATCHPADS; d++) {
        for (size_t k = 0; k < count; k++) {
            run_row(&rows[k], scratchpads[d]);
        }
    }
}

/* ---- What seeds look for */

static inline uint64_t round_up_to(uint64_t value, uint64_t unit) {
    return (value + unit - 1) / unit * unit;
}

static inline const PlannedSweep *first_sweep(const Seeded *seeded) {
    return &seeded->plan->sweeps[0];
}

/* 0 the input's tile, 1 the output's; NO_BUFFER behind them. */
static inline BufferId map_tile(const Seeded *seeded, uint32_t which) {
    const PlannedSweep *planned = first_sweep(seeded);
    return which == 0 ? planned->in_local[0] : which == 1 ? planned->out_local[0] : NO_BUFFER;
}

static inline bool reads_param(const Command *command, uint32_t buffer) {
    for (uint32_t s = 0; s < command->stage_count; s++) {
        for (uint32_t p = 0; p < command->stages[s].param_count; p++) {
            if (command->stages[s].param[p].from.buffer == buffer) {
                return true;
            }
        }
    }
    return false;
}

static inline bool reads(const Command *command, uint32_t buffer) {
    return command->src.buffer == buffer || reads_param(command, buffer);
}

static inline bool writes(const Command *command, uint32_t buffer) {
    return command->dst.buffer == buffer || command->scratch.buffer == buffer;
}

static inline uint32_t first_writer(const Seeded *seeded, uint32_t buffer) {
    uint32_t k = 0;
    while (!writes(&seeded->commands[k], buffer)) {
        k++;
        assert_true(k < seeded->program.command_count);
    }
    return k;
}

#endif
