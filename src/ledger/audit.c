/* Puts what a plan says beside what a run measured. */
#include "ledger/audit.h"

#include "base/fault.h"
#include "plan/plan_cost.h"

HostTensor audit_tensor(const Graph *graph, ValueId id) {
    const Value *value = graph_value(graph, id);
    return (HostTensor){value->name, value->dtype, value->shape};
}

bool audit_is_expected(const Audit *audit) {
    bool is_expected = true;
    for (uint32_t k = 0; k < audit->output_count; k++) {
        is_expected = is_expected && audit->outputs[k].difference.different == 0;
    }
    return is_expected;
}

static void compare(Audit *audit, AuditDifference found, Arena *keep) {
    if (found.planned == found.measured) {
        return;
    }
    audit->differences = arena_grow(keep, audit->differences, audit->difference_count, &audit->difference_capacity,
                                    sizeof *audit->differences);
    audit->differences[audit->difference_count++] = found;
}

/* ---- Buffers */

static void compare_buffers(Audit *audit, Arena *keep) {
    for (uint32_t k = 0; k < audit->program->buffer_count; k++) {
        const CmdBuffer *buffer = &audit->program->buffers[k];
        const SimBuffer *measured = &audit->result->buffer[k];
        audit->estimated_bytes += buffer->estimated_bytes;
        audit->touched_bytes += measured->touched_bytes;
        compare(audit,
                (AuditDifference){"touched bytes", buffer->name, k, buffer->estimated_bytes, measured->touched_bytes},
                keep);
        uint64_t used_lanes = measured->used_lanes > 0 ? measured->used_lanes : 1; /* what nobody touches lies in one */
        compare(audit, (AuditDifference){"lanes", buffer->name, k, buffer->lanes, used_lanes}, keep);
        if (buffer->kind == CMD_BUFFER_WORKSPACE) {
            audit->declared_bytes += buffer->bytes;
            audit->used_bytes += measured->used_bytes;
            compare(audit, (AuditDifference){"used workspace", buffer->name, k, buffer->bytes, measured->used_bytes},
                    keep);
        } else {
            compare(audit,
                    (AuditDifference){"reserved bytes", buffer->name, k, buffer->bytes, audit->footprint_bytes[k]},
                    keep);
        }
    }
}

/* ---- Columns */

static AuditColumnId column_of(CmdColumn column) {
    switch (column) {
    case CMD_COLUMN_LOAD_INPUT:
        return AUDIT_LOAD_INPUT;
    case CMD_COLUMN_LOAD_PARAM:
        return AUDIT_LOAD_PARAM;
    case CMD_COLUMN_STORE:
        return AUDIT_STORE;
    case CMD_COLUMN_COPY:
        return AUDIT_COPY;
    case CMD_COLUMN_FILL:
        return AUDIT_FILL;
    default:
        return AUDIT_COMPUTE;
    }
}

static void measure(Audit *audit) {
    for (int k = 0; k < CMD_COLUMNS; k++) {
        const SimColumn *from = &audit->result->column[k];
        AuditColumnId id = column_of((CmdColumn)k);
        AuditColumn *to = &audit->column[id];
        to->measured.bytes += id == AUDIT_COMPUTE ? 0 : from->written_bytes;
        to->measured.commands += from->commands;
        to->measured.descriptors += from->descriptors;
        to->measured.bursts += from->bursts;
        to->measured.cycles += from->cycles;
        to->read_bytes += from->read_bytes;
        to->written_bytes += from->written_bytes;
    }
}

static void book_column(AuditTraffic *to, const ColumnCost *from) {
    to->bytes += from->bytes;
    to->commands += from->commands;
    to->descriptors += from->descriptors;
    to->bursts += from->bursts;
    to->cycles += from->cycles;
}

static void book(Audit *audit, const PlanCost *cost) {
    static const char *const names[] = {"load_input", "load_param", "compute", "store", "copy", "fill"};
    static const AuditColumnId ids[] = {[COLUMN_LOAD_INPUT] = AUDIT_LOAD_INPUT,
                                        [COLUMN_LOAD_PARAM] = AUDIT_LOAD_PARAM,
                                        [COLUMN_MULTIPLY] = AUDIT_COMPUTE,
                                        [COLUMN_ADD] = AUDIT_COMPUTE,
                                        [COLUMN_REQUANTIZE] = AUDIT_COMPUTE,
                                        [COLUMN_COMPUTE] = AUDIT_COMPUTE,
                                        [COLUMN_STORE] = AUDIT_STORE,
                                        [COLUMN_COPY] = AUDIT_COPY,
                                        [COLUMN_FILL] = AUDIT_FILL};
    for (int k = 0; k < AUDIT_COLUMNS; k++) {
        audit->column[k].name = names[k];
    }
    for (int k = 0; k < COLUMN_COUNT; k++) {
        book_column(&audit->column[ids[k]].booked, &cost->column[k]);
    }
}

static void compare_columns(Audit *audit, Arena *keep) {
    for (int k = 0; k < AUDIT_COLUMNS; k++) {
        const AuditColumn *column = &audit->column[k];
        const AuditTraffic *booked = &column->booked, *measured = &column->measured;
        Str where = str_from(column->name);
        compare(audit, (AuditDifference){"bytes", where, CMD_NONE, booked->bytes, measured->bytes}, keep);
        compare(audit, (AuditDifference){"commands", where, CMD_NONE, booked->commands, measured->commands}, keep);
        compare(audit, (AuditDifference){"descriptors", where, CMD_NONE, booked->descriptors, measured->descriptors},
                keep);
        compare(audit, (AuditDifference){"bursts", where, CMD_NONE, booked->bursts, measured->bursts}, keep);
        compare(audit, (AuditDifference){"cycles", where, CMD_NONE, booked->cycles, measured->cycles}, keep);
        if (k != AUDIT_COMPUTE && k != AUDIT_FILL) {
            compare(audit, (AuditDifference){"read bytes", where, CMD_NONE, booked->bytes, column->read_bytes}, keep);
        }
    }
}

/* ---- All of it */

static bool has_fault_of_ours(const SimResult *result, bool *has_value) {
    uint64_t numbers = 0;
    for (uint32_t k = 0; k < result->kept_faults; k++) {
        numbers += result->fault[k].kind == FAULT_NUMBER;
    }
    *has_value = numbers == 0;
    return result->kept_faults > numbers;
}

void audit_gather(Audit *audit, const Plan *plan, Arena *keep) {
    PlanCost cost;
    CHECK(plan_cost(plan, NULL, keep, &cost));
    const Str all = {0};
    book(audit, &cost);
    measure(audit);
    audit->booked_cycles = cost.cycles;
    audit->booked_syncs = cost.syncs;
    audit->measured_cycles = audit->result->cycles;
    audit->measured_syncs = audit->result->syncs;
    compare_buffers(audit, keep);
    compare_columns(audit, keep);
    compare(audit, (AuditDifference){"cycles", all, CMD_NONE, cost.cycles, audit->result->cycles}, keep);
    compare(audit, (AuditDifference){"waits", all, CMD_NONE, cost.syncs, audit->result->syncs}, keep);
    for (uint32_t k = 0; k < audit->output_count; k++) {
        const AuditTensor *output = &audit->outputs[k];
        compare(audit, (AuditDifference){"unwritten elements", output->tensor.name, CMD_NONE, 0, output->unwritten},
                keep);
    }
    audit->is_exact = !has_fault_of_ours(audit->result, &audit->has_value) && audit->difference_count == 0;
}
