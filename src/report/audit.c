/* The report of a run for people. */
#include "report/audit.h"

#include "report/text.h"

#include <inttypes.h>

enum { INDENT = 2 };

static Str file_of(const AuditTensor *input, const Audit *audit, Arena *arena) {
    return input->file == NULL ? arena_format(arena, "seed %" PRIu64, audit->seed) : str_from(input->file);
}

static void print_tensors(const Audit *audit, uint32_t columns, Arena *arena, FILE *out) {
    static const char *const heads[] = {"", "tensor", "type and shape", "CRC-32", "from"};
    Table table;
    table_init(&table, arena, "lnlll");
    table_head(&table, heads);
    for (uint32_t k = 0; k < audit->input_count + audit->output_count; k++) {
        bool is_input = k < audit->input_count;
        const AuditTensor *tensor = is_input ? &audit->inputs[k] : &audit->outputs[k - audit->input_count];
        table_text(&table, is_input ? "input" : "output");
        table_add(&table, tensor->tensor.name);
        table_text(&table, host_text(arena, tensor->tensor.dtype, &tensor->tensor.shape));
        table_text(&table, arena_text(arena, "%08" PRIx32, tensor->crc32));
        table_add(&table, is_input ? file_of(tensor, audit, arena) : STR(""));
    }
    table_print(&table, INDENT, columns, out);
}

/* One figure where both are equal, else both. */
static void add_pair(Table *table, uint64_t booked, uint64_t measured) {
    Str both = text_number(table->arena, measured);
    if (booked != measured) {
        both = arena_format(table->arena, STR_FMT " for " STR_FMT, STR_ARG(both),
                            STR_ARG(text_number(table->arena, booked)));
    }
    table_add(table, both);
}

static void print_columns(const Audit *audit, uint32_t columns, Arena *arena, FILE *out) {
    static const char *const heads[] = {"column",      "commands", "bytes read", "written",
                                        "descriptors", "bursts",   "cycles"};
    Table table;
    table_init(&table, arena, "lrrrrrr");
    table_head(&table, heads);
    for (int k = 0; k < AUDIT_COLUMNS; k++) {
        const AuditColumn *column = &audit->column[k];
        if (column->measured.commands == 0 && column->booked.commands == 0) {
            continue;
        }
        table_text(&table, column->name);
        add_pair(&table, column->booked.commands, column->measured.commands);
        table_number(&table, column->read_bytes);
        table_number(&table, column->written_bytes);
        add_pair(&table, column->booked.descriptors, column->measured.descriptors);
        add_pair(&table, column->booked.bursts, column->measured.bursts);
        add_pair(&table, column->booked.cycles, column->measured.cycles);
    }
    table_print(&table, INDENT, columns, out);
}

/* "compute, as plan lists it: multiply 520, add 420 cycles": the planner books the engine by what it does. */
static void print_engine(const Facts *facts, Arena *arena, FILE *out) {
    static const Column engine[] = {COLUMN_MULTIPLY, COLUMN_ADD, COLUMN_REQUANTIZE, COLUMN_COMPUTE};
    const PlanCost *cost = &facts->first_run.cost;
    Str list = STR("");
    for (size_t k = 0; facts->has_costs && k < sizeof engine / sizeof engine[0]; k++) {
        if (cost->column[engine[k]].cycles > 0) {
            list = arena_format(arena, STR_FMT "%s%s " STR_FMT, STR_ARG(list), list.len == 0 ? "" : ", ",
                                column_name(engine[k]), STR_ARG(text_number(arena, cost->column[engine[k]].cycles)));
        }
    }
    if (list.len > 0) {
        fprintf(out, "  compute, as plan lists it: " STR_FMT " cycles\n", STR_ARG(list));
    }
}

static void print_audit(const Audit *audit, uint32_t columns, Arena *arena, FILE *out) {
    static const char *const heads[] = {"", "planned", "measured"};
    const struct {
        const char *what;
        uint64_t planned, measured;
    } line[] = {{"workspace bytes, declared and used", audit->declared_bytes, audit->used_bytes},
                {"bytes estimated and touched", audit->estimated_bytes, audit->touched_bytes},
                {"waits for another queue", audit->booked_syncs, audit->measured_syncs},
                {"cycles", audit->booked_cycles, audit->measured_cycles}};
    Table table;
    table_init(&table, arena, "lrr");
    table_head(&table, heads);
    for (size_t k = 0; k < sizeof line / sizeof line[0]; k++) {
        table_text(&table, line[k].what);
        table_number(&table, line[k].planned);
        table_number(&table, line[k].measured);
    }
    table_print(&table, INDENT, columns, out);
}

/* "by 2 codes at most" */
static const char *largest_text(const AuditTensor *output, Arena *arena) {
    const HostDifference *found = &output->difference;
    if (found->largest == 0) {
        return found->has_nan ? "some are NaN in one of both" : "nothing differs";
    }
    return arena_text(arena, "by " STR_FMT " %s at most%s%s", STR_ARG(text_number(arena, found->largest)),
                      host_difference_unit(output->tensor.dtype),
                      found->apart > 0 ? arena_text(arena, ", as numbers by %.3g", found->apart) : "",
                      found->has_nan ? ", and some are NaN in one of both" : "");
}

/* Each output of which something is expected. */
static void print_expected(const Audit *audit, uint32_t columns, Arena *arena, FILE *out) {
    static const char *const heads[] = {"expected", "elements", "different", "how far", "file"};
    Table table;
    uint32_t count = 0;
    table_init(&table, arena, "nrrll");
    table_head(&table, heads);
    for (uint32_t k = 0; k < audit->output_count; k++) {
        const AuditTensor *output = &audit->outputs[k];
        if (output->file == NULL) {
            continue;
        }
        count++;
        table_add(&table, output->tensor.name);
        table_number(&table, output->difference.elements);
        table_number(&table, output->difference.different);
        table_text(&table, largest_text(output, arena));
        table_text(&table, output->file);
    }
    if (count > 0) {
        fputc('\n', out);
        table_print(&table, INDENT, columns, out);
    }
}

void report_audit(const Facts *facts, const Audit *audit, uint32_t columns, Arena *scratch, FILE *out) {
    Str file = clean_text(scratch, str_from(facts->file));
    fprintf(out, STR_FMT " on " STR_FMT ", computed as %s", STR_ARG(file), STR_ARG(text_device(scratch, facts->device)),
            s0_semantics_name(audit->semantics));
    if (audit->node != NULL) {
        fprintf(out, ": the chain of '" STR_FMT "'", STR_ARG(clean_text(scratch, str_from(audit->node))));
    }
    fputs("\n\n", out);
    print_tensors(audit, columns, scratch, out);
    fputc('\n', out);
    print_columns(audit, columns, scratch, out);
    print_engine(facts, scratch, out);
    fputc('\n', out);
    print_audit(audit, columns, scratch, out);
    print_expected(audit, columns, scratch, out);
    fprintf(out, "\naudit: %s\n",
            !audit->is_exact                  ? "not exact: standard error tells what"
            : audit->result->fault_count == 0 ? "exact, no fault"
                                              : "exact, but the reference has no value for some elements");
}

/* ---- Faults */

static void print_name(FILE *out, const char *what, Str name) {
    if (name.len > 0) {
        fprintf(out, ", %s '", what);
        clean_print(name, out);
        fputc('\'', out);
    }
}

/* A command of several stages runs several nodes: which of them it is, what the stage reads tells. */
static void print_stage(const CmdProgram *program, const SimFault *fault, FILE *out) {
    const Command *command = &program->commands[fault->command];
    bool is_chain = command->stage_count > 1;
    const CmdStage *stage = command->stage_count > 0 ? &command->stages[fault->stage] : NULL;
    if (is_chain) {
        fprintf(out, ", stage %" PRIu32 " of %" PRIu32, fault->stage + 1, command->stage_count);
    }
    for (uint32_t k = 0; stage != NULL && k < stage->param_count; k++) {
        print_name(out, "parameter", program->buffers[stage->param[k].from.buffer].name);
    }
    print_name(out, is_chain ? "chain from node" : "node", program->nodes[command->node]);
}

static void print_fault(const Audit *audit, const SimFault *fault, const char *prefix, FILE *out) {
    const CmdProgram *program = audit->program;
    const CmdBuffer *buffer = &program->buffers[fault->buffer];
    bool has_command = fault->command != CMD_NONE;
    const char *whose = fault->kind == FAULT_NUMBER ? "refused" : "error"; /* the input's or ours */
    fprintf(out, "%s: %s: %s: ", prefix, whose, sim_fault_name(fault->kind));
    if (has_command) {
        fprintf(out, "command %" PRIu32 ": ", fault->command);
    }
    fprintf(out, "%s", fault->text);
    if (fault->kind == FAULT_NUMBER) {
        print_stage(program, fault, out);
    } else {
        print_name(out, "node", has_command ? program->nodes[program->commands[fault->command].node] : buffer->node);
    }
    print_name(out, "tensor", buffer->name);
    fprintf(out, ", memory %" PRIu32 ", lane %" PRIu64 ", byte %" PRIu64 "\n", buffer->memory, fault->lane,
            fault->byte);
    if (fault->other != CMD_NONE) {
        fprintf(out, "    command %" PRIu32 " was there before\n", fault->other);
    }
    if (fault->kind == FAULT_NUMBER) {
        fputs("  do        give numbers of which the model's arithmetic has a value\n", out);
    }
}

void report_audit_faults(const Audit *audit, const char *prefix, FILE *out) {
    const SimResult *result = audit->result;
    for (uint32_t k = 0; k < result->kept_faults; k++) {
        print_fault(audit, &result->fault[k], prefix, out);
    }
    if (result->fault_count > result->kept_faults) {
        fprintf(out, "%s: error: %" PRIu64 " more faults\n", prefix, result->fault_count - result->kept_faults);
    }
    for (uint32_t k = 0; k < audit->difference_count; k++) {
        const AuditDifference *found = &audit->differences[k];
        fprintf(out, "%s: error: audit: %s: planned %" PRIu64 ", measured %" PRIu64, prefix, found->what,
                found->planned, found->measured);
        print_name(out, found->buffer == CMD_NONE ? "of" : "tensor", found->where);
        fputc('\n', out);
    }
}

/* " by more than 7 ulp and 1e-05" */
static const char *within_text(const Audit *audit, DType dtype, Arena *arena) {
    const HostTolerance *allowed = &audit->tolerance;
    const char *unit = host_difference_unit(dtype);
    bool has_apart = allowed->apart > 0 && strcmp(unit, "ulp") == 0;
    unit = allowed->steps == 1 && strcmp(unit, "codes") == 0 ? "code" : unit;
    const char *steps = arena_text(arena, STR_FMT " %s", STR_ARG(text_number(arena, allowed->steps)), unit);
    if (allowed->steps == 0 && !has_apart) {
        return "";
    }
    return has_apart ? arena_text(arena, " by more than %s%s%g", allowed->steps == 0 ? "" : steps,
                                  allowed->steps == 0 ? "" : " and ", allowed->apart)
                     : arena_text(arena, " by more than %s", steps);
}

void report_audit_unexpected(const Audit *audit, const char *prefix, Arena *scratch, FILE *out) {
    for (uint32_t k = 0; k < audit->output_count; k++) {
        const AuditTensor *output = &audit->outputs[k];
        const HostDifference *found = &output->difference;
        if (found->different == 0) {
            continue;
        }
        fprintf(out, "%s: error: output '", prefix);
        clean_print(output->tensor.name, out);
        fprintf(out, "' is not as expected: " STR_FMT " of " STR_FMT " elements differ from ",
                STR_ARG(text_number(scratch, found->different)), STR_ARG(text_number(scratch, found->elements)));
        clean_print(str_from(output->file), out);
        fprintf(out, "%s, %s\n", within_text(audit, output->tensor.dtype, scratch), largest_text(output, scratch));
        fprintf(out, "  first     element %s: got %s, expected %s\n",
                host_index_text(&output->tensor.shape, found->first, scratch),
                host_element_text(&output->tensor, output->packed, found->first, scratch),
                host_element_text(&output->tensor, output->expected, found->first, scratch));
    }
}
