/* Measures a cell, by the stages that every network goes through. */
#include "matrix/measure.h"

#include "affine/simplify.h"
#include "base/fault.h"
#include "cmd/wire.h"
#include "graph/text.h"
#include "host/difference.h"
#include "layout/packed.h"
#include "ledger/audit.h"
#include "matrix/model.h"
#include "matrix/reference.h"

#include <string.h>

static const Semantics reference_id = S0_SEM_TFLITE_DOUBLE;

static Graph *read_graph(const MatrixModel *model, Work *work, FileNote *note) {
    Graph *graph = graph_parse_text(work, (Span){(const uint8_t *)model->graph.ptr, model->graph.len}, STR("cell"));
    if (graph == NULL || !graph_check(graph, work)) {
        return NULL;
    }
    *note = simplify_note(graph, &work->keep);
    bool ok = graph_inline(graph, work) && graph_bind_dims(graph, NULL, 0, work) && graph_infer(graph, work) &&
              graph_assign_names(graph, NULL, 0, work);
    return ok ? graph : NULL;
}

static const Plan *plan_cell(const MatrixModel *model, Graph *graph, const FileNote *note, Work *work) {
    const SimplifyOptions exact = {.is_silent = true};
    Simplified simplified;
    const Device *device = device_parse(work, model->device, STR("matrix.ini"));
    if (device == NULL) {
        return NULL;
    }
    simplify_graph(graph, NULL, note, &exact, work, &simplified);
    const Plan *plan = plan_make(graph, device, &model->options, work);
    if (plan != NULL && !plan_fits(plan)) {
        diag_error(&work->diags, (DiagText){.what = "the plan does not fit"});
        return NULL;
    }
    return plan;
}

/* ---- Outputs */

static uint64_t expected_bits(const MatrixModel *model, const MatrixMap *map, uint64_t k) {
    uint32_t bits = dtype_bits(model->dtype), real;
    memcpy(&real, &map->x[k], sizeof real);
    return model->dtype == DTYPE_F32 ? real : (uint32_t)map->code[k] & (UINT64_MAX >> (64 - bits));
}

static void compare(const MatrixModel *model, const MatrixMap *map, Span packed, MatrixRow *row) {
    uint64_t count = model->n * model->c * model->h * model->w;
    for (uint64_t k = 0; k < count; k++) {
        uint64_t got = packed_read(packed.ptr, k, dtype_bits(model->dtype));
        uint64_t error = host_distance(model->dtype, got, expected_bits(model, map, k));
        row->max_error_lsb = error > row->max_error_lsb ? error : row->max_error_lsb;
    }
    row->is_equal = row->is_equal && row->max_error_lsb == 0;
}

/* ---- The run */

static void read_outputs(const MatrixModel *model, const BuiltProgram *built, const Sim *sim,
                         const MatrixMap expected[2], Work *work, MatrixRow *row) {
    row->is_equal = true;
    row->output_count = built->output_count;
    for (uint32_t k = 0; k < built->output_count; k++) {
        uint64_t unwritten;
        Span packed = sim_read(sim, built->outputs[k].buffer, &work->keep, &unwritten);
        row->is_equal = row->is_equal && unwritten == 0;
        row->crc32[k] = cmd_crc32(packed.ptr, packed.len);
        compare(model, &expected[k], packed, row);
    }
}

/* A parameter of which a COPY makes the form that is read does not count, but what is made. */
static bool is_read_by_copy(const CmdProgram *program, uint32_t buffer) {
    bool is_read = false;
    for (uint32_t k = 0; !is_read && k < program->command_count; k++) {
        is_read = program->commands[k].op == CMD_COPY && program->commands[k].src.buffer == buffer;
    }
    return is_read;
}

static uint64_t param_bytes(const CmdProgram *program, const SimResult *result) {
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < program->buffer_count; k++) {
        bool is_param = program->buffers[k].kind == CMD_BUFFER_PARAMETER && result->buffer[k].written_bytes > 0;
        bytes += is_param && !is_read_by_copy(program, k) ? result->buffer[k].written_bytes : 0;
    }
    return bytes;
}

static void fill_row(const Plan *plan, const Audit *audit, MatrixRow *row) {
    static const AuditColumnId transfers[] = {AUDIT_LOAD_INPUT, AUDIT_LOAD_PARAM, AUDIT_STORE};
    const Buffer *map = plan_buffer(plan, plan->backing[graph_main(plan->graph)->outputs[0].index]);
    row->logical_bytes = map->logical_bytes;
    row->physical_bytes = map->physical_bytes;
    row->peak_live_bytes = plan->peak_live_bytes;
    row->workspace_declared_bytes = audit->declared_bytes;
    row->workspace_used_bytes = audit->used_bytes;
    row->param_bytes = param_bytes(audit->program, audit->result);
    row->far_param_bytes = audit->column[AUDIT_LOAD_PARAM].measured.bytes;
    for (size_t k = 0; k < sizeof transfers / sizeof *transfers; k++) {
        row->moved_bytes += audit->column[transfers[k]].measured.bytes;
        row->transfers += audit->column[transfers[k]].measured.commands;
    }
    row->cycles = audit->measured_cycles;
    row->is_equal = row->is_equal && audit->is_exact;
}

static bool run(const MatrixModel *model, const Plan *plan, const MatrixMap expected[2], Work *work, MatrixRow *row) {
    const BuiltProgram *built = program_build(plan, reference_id, work);
    Sim *sim = built == NULL ? NULL : sim_new(built->program, plan->device, work);
    if (sim == NULL) {
        return false;
    }
    CHECK(built->input_count == 1 && sim_write(sim, built->inputs[0].buffer, model->input));
    Audit audit = {.semantics = reference_id,
                   .program = built->program,
                   .footprint_bytes = built->footprint_bytes,
                   .result = sim_run(sim)};
    audit_gather(&audit, plan, &work->keep);
    read_outputs(model, built, sim, expected, work, row);
    fill_row(plan, &audit, row);
    return true;
}

bool matrix_measure(const MatrixCell *cell, Work *work, MatrixRow *row) {
    MatrixModel model;
    MatrixMap expected[2];
    *row = (MatrixRow){0};
    matrix_model(cell, work, &model);
    FileNote note;
    Graph *graph = read_graph(&model, work, &note);
    if (graph == NULL) {
        return false;
    }
    const char *why = matrix_reference(&model, graph, reference_id, &work->keep, &expected[0], &expected[1]);
    if (why != NULL) {
        return diag_error(&work->diags, (DiagText){.what = why});
    }
    const Plan *plan = plan_cell(&model, graph, &note, work);
    return plan != NULL && run(&model, plan, expected, work, row);
}
