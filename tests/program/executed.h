/* A drawn case, planned, made a program and run: whether the simulated device finds a fault, whether the outputs are
 * those that were expected, and whether the audit holds. */
#ifndef S0_TESTS_PROGRAM_EXECUTED_H
#define S0_TESTS_PROGRAM_EXECUTED_H

#include "cmd/text.h"
#include "graph/passes.h"
#include "plan/plan_cost.h"
#include "program/program.h"
#include "sim/sim.h"

#include "program/drawn_device.h"
#include "program/verdict.h"

#include <inttypes.h>

/* As files hold it. */
typedef struct {
    Str name;
    DType dtype;
    uint64_t elements;
    Span packed;
} HostTensor;

/* What the caller gives, and what has to come out. */
typedef struct {
    uint32_t input_count, output_count;
    HostTensor *inputs, *outputs;
} HostTensors;

/* ---- The audit */

static inline Outcome check_buffers(const BuiltProgram *built, const SimResult *result, Verdict *verdict) {
    const CmdProgram *program = built->program;
    for (uint32_t k = 0; k < program->buffer_count; k++) {
        const CmdBuffer *buffer = &program->buffers[k];
        if (buffer->kind != CMD_BUFFER_WORKSPACE && built->footprint_bytes[k] != buffer->bytes) {
            return decide(verdict, FAILED, "buffer %" PRIu32 " '" STR_FMT "': reserves %" PRIu64 ", footprint %" PRIu64,
                          k, STR_ARG(buffer->name), buffer->bytes, built->footprint_bytes[k]);
        }
        if (result->buffer[k].touched_bytes != buffer->estimated_bytes) {
            return decide(verdict, FAILED, "buffer %" PRIu32 " '" STR_FMT "': touched %" PRIu64 ", estimated %" PRIu64,
                          k, STR_ARG(buffer->name), result->buffer[k].touched_bytes, buffer->estimated_bytes);
        }
        if (buffer->kind == CMD_BUFFER_WORKSPACE && result->buffer[k].used_bytes != buffer->bytes) {
            return decide(verdict, FAILED, "workspace %" PRIu32 ": used %" PRIu64 ", declared %" PRIu64, k,
                          result->buffer[k].used_bytes, buffer->bytes);
        }
    }
    return PASSED;
}

static inline Outcome check_column(const char *name, const SimColumn *measured, const ColumnCost *booked,
                                   Verdict *verdict) {
    bool is_move = booked->bytes > 0;
    bool same = measured->commands == booked->commands && measured->descriptors == booked->descriptors &&
                measured->bursts == booked->bursts && measured->cycles == booked->cycles &&
                (!is_move || (measured->read_bytes == booked->bytes && measured->written_bytes == booked->bytes));
    return same ? PASSED
                : decide(verdict, FAILED,
                         "%s: measured %" PRIu64 " commands %" PRIu64 " descriptors %" PRIu64 " bursts %" PRIu64
                         " cycles %" PRIu64 " bytes; booked %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
                         name, measured->commands, measured->descriptors, measured->bursts, measured->cycles,
                         measured->written_bytes, booked->commands, booked->descriptors, booked->bursts, booked->cycles,
                         booked->bytes);
}

static inline Outcome check_cost(const Plan *plan, const CmdProgram *program, const SimResult *result, Arena *scratch,
                                 Verdict *verdict) {
    const SimColumn *column = result->column;
    SimColumn engine = {0};
    ColumnCost booked = {0}; /* of the engine */
    PlanCost cost;
    if (!plan_cost(plan, NULL, scratch, &cost) || cost.unbooked_steps + cost.assumed_steps > 0) {
        return decide(verdict, FAILED, "the plan has no cost");
    }
    for (CmdColumn k = CMD_COLUMN_MULTIPLY; k < CMD_COLUMNS; k++) {
        bool computes = k <= CMD_COLUMN_REQUANTIZE || k == CMD_COLUMN_COMPUTE;
        engine.commands += computes ? column[k].commands : 0;
        engine.cycles += computes ? column[k].cycles : 0;
    }
    for (Column k = COLUMN_MULTIPLY; k <= COLUMN_COMPUTE; k++) {
        booked.commands += cost.column[k].commands;
        booked.cycles += cost.column[k].cycles;
    }
    if (check_column("load_input", &column[CMD_COLUMN_LOAD_INPUT], &cost.column[COLUMN_LOAD_INPUT], verdict) !=
            PASSED ||
        check_column("load_param", &column[CMD_COLUMN_LOAD_PARAM], &cost.column[COLUMN_LOAD_PARAM], verdict) !=
            PASSED ||
        check_column("store", &column[CMD_COLUMN_STORE], &cost.column[COLUMN_STORE], verdict) != PASSED ||
        check_column("compute", &engine, &booked, verdict) != PASSED) {
        return FAILED;
    }
    if (result->cycles != cost.cycles || result->cycles != program->booked_cycles || result->syncs != cost.syncs) {
        return decide(verdict, FAILED, "cycles %" PRIu64 ", syncs %" PRIu64 "; booked %" PRIu64 ", %" PRIu64,
                      result->cycles, result->syncs, cost.cycles, cost.syncs);
    }
    return PASSED;
}

static inline Outcome check_faults(const CmdProgram *program, const SimResult *result, Verdict *verdict) {
    if (result->fault_count == 0) {
        return PASSED;
    }
    const SimFault *fault = &result->fault[0];
    return decide(verdict, FAILED,
                  "%" PRIu64 " faults; %s: command %d, other %d, buffer %" PRIu32 " '" STR_FMT "', lane %" PRIu64
                  " byte %" PRIu64 ": %s",
                  result->fault_count, sim_fault_name(fault->kind), (int)fault->command, (int)fault->other,
                  fault->buffer, STR_ARG(program->buffers[fault->buffer].name), fault->lane, fault->byte, fault->text);
}

/* ---- Outputs */

static inline const HostTensor *find_tensor(const HostTensor *tensors, uint32_t count, Str name) {
    for (uint32_t k = 0; k < count; k++) {
        if (str_eq(tensors[k].name, name)) {
            return &tensors[k];
        }
    }
    fail_msg("nothing is known of " STR_FMT, STR_ARG(name));
    return NULL;
}

static inline Outcome check_output(const Sim *sim, uint32_t buffer, const HostTensor *expected, Arena *arena,
                                   Verdict *verdict) {
    uint64_t unwritten;
    uint32_t bits = dtype_bits(expected->dtype);
    Span got = sim_read(sim, buffer, arena, &unwritten);
    if (unwritten > 0 || got.len != expected->packed.len) {
        return decide(verdict, FAILED, "output " STR_FMT ": %" PRIu64 " elements are not written",
                      STR_ARG(expected->name), unwritten);
    }
    for (uint64_t k = 0; k < expected->elements; k++) {
        uint64_t want = packed_read(expected->packed.ptr, k, bits), have = packed_read(got.ptr, k, bits);
        if (want != have) {
            return decide(verdict, FAILED, "output " STR_FMT ": element %" PRIu64 " is %" PRIx64 ", expected %" PRIx64,
                          STR_ARG(expected->name), k, have, want);
        }
    }
    return PASSED;
}

static inline Outcome check_outputs(const Plan *plan, const BuiltProgram *built, const Sim *sim,
                                    const HostTensors *tensors, Work *work, Verdict *verdict) {
    if (built->output_count != tensors->output_count) {
        return decide(verdict, FAILED, "an output is missing");
    }
    for (uint32_t k = 0; k < built->output_count; k++) {
        Str name = graph_value(plan->graph, built->outputs[k].value)->name;
        const HostTensor *expected = find_tensor(tensors->outputs, tensors->output_count, name);
        if (check_output(sim, built->outputs[k].buffer, expected, &work->keep, verdict) != PASSED) {
            return FAILED;
        }
    }
    return PASSED;
}

static inline Outcome simulate(const Plan *plan, const BuiltProgram *built, const HostTensors *tensors, Work *work,
                               Verdict *verdict) {
    Sim *sim = sim_new(built->program, plan->device, work);
    if (sim == NULL) {
        bool is_large = was_told(work, "more memory than the simulated device takes");
        return decide_by_messages(verdict, is_large ? NO_FIT : FAILED, work, "simulator");
    }
    for (uint32_t k = 0; k < built->input_count; k++) {
        Str name = graph_value(plan->graph, built->inputs[k].value)->name;
        const HostTensor *given = find_tensor(tensors->inputs, tensors->input_count, name);
        assert_true(sim_write(sim, built->inputs[k].buffer, given->packed));
    }
    const SimResult *result = sim_run(sim);
    if (check_faults(built->program, result, verdict) != PASSED ||
        check_outputs(plan, built, sim, tensors, work, verdict) != PASSED ||
        check_buffers(built, result, verdict) != PASSED ||
        check_cost(plan, built->program, result, &work->scratch, verdict) != PASSED) {
        return FAILED;
    }
    return PASSED;
}

/* ---- Graph and plan */

/* As the text says; null where the case is wrong. */
static inline Graph *read_graph(const Drawn *drawn, Work *work) {
    Span text = {(const uint8_t *)drawn->graph_text, drawn->graph_length};
    LayoutBinding layout = {.tensor = STR("x"), .is_channel_second = true};
    Graph *graph = graph_parse_text(work, text, STR("drawn"));
    bool ok = graph != NULL && graph_check(graph, work) && graph_inline(graph, work) &&
              graph_bind_dims(graph, NULL, 0, work) && graph_infer(graph, work) &&
              graph_assign_names(graph, &layout, drawn->is_channel_second ? 1 : 0, work);
    return ok ? graph : NULL;
}

static const Plan *plan_drawn(const Drawn *drawn, const Graph *graph, Verdict *verdict) {
    Work *work = drawn->work;
    const Device *device = device_parse(work, (Str){drawn->device_text, drawn->device_length}, STR("drawn.ini"));
    PlanOptions options = drawn->options;
    if (device == NULL) {
        decide_by_messages(verdict, FAILED, work, "the case is wrong");
        return NULL;
    }
    const Plan *plan = plan_make(graph, device, &options, work);
    if (plan == NULL) {
        decide_by_messages(verdict, REFUSED, work, "plan");
    }
    return plan;
}

enum { MOST_BYTES = 1 << 22 }; /* of local memory: the simulated device is slow to begin with more */

/* A plan that fits: where memory is too small it gets what the plan needs, to the byte. */
static const Plan *plan_to_fit(Drawn *drawn, const Graph *graph, Verdict *verdict) {
    const Plan *plan = plan_drawn(drawn, graph, verdict);
    for (uint32_t again = 0; again < 2 && plan != NULL && !plan_fits(plan); again++) {
        if (again == 1 || plan->placed_bytes > MOST_BYTES) {
            decide(verdict, NO_FIT, "needs %" PRIu64, plan->placed_bytes);
            return NULL;
        }
        draw_just_enough(drawn, plan->placed_bytes);
        plan = plan_drawn(drawn, graph, verdict);
    }
    return plan;
}

/* To the file that S0_DUMP names. */
static inline void dump_program(const CmdProgram *program) {
    const char *path = getenv("S0_DUMP");
    if (path != NULL) {
        FILE *out = fopen(path, "w");
        cmd_print(program, out);
        fclose(out);
    }
}

/* The plan that was executed; null where there is none, as the verdict tells. */
static inline const Plan *execute(Drawn *drawn, const Graph *graph, Semantics semantics, const HostTensors *tensors,
                                  Verdict *verdict) {
    const Plan *plan = plan_to_fit(drawn, graph, verdict);
    if (plan == NULL) {
        return NULL;
    }
    const BuiltProgram *built = program_build(plan, semantics, drawn->work);
    if (built == NULL) {
        decide_by_messages(verdict, REFUSED, drawn->work, "program");
        return NULL;
    }
    dump_program(built->program);
    return simulate(plan, built, tensors, drawn->work, verdict) == PASSED ? plan : NULL;
}

#endif
