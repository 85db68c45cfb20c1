/* The reference of a cell. */
#include "matrix/reference.h"

#include "base/fault.h"
#include "layout/packed.h"
#include "node/stages.h"
#include "stage/bound.h"

#include <string.h>

typedef struct {
    const MatrixModel *model;
    const Graph *graph;
    Semantics semantics;
    Arena *arena;
} Reference;

static uint64_t count_of(const MatrixModel *model) {
    return model->n * model->c * model->h * model->w;
}

static int32_t code_of(DType dtype, uint64_t bits) {
    uint32_t width = dtype_bits(dtype);
    int64_t sign = (int64_t)1 << (width - 1);
    return (int32_t)(((int64_t)bits ^ sign) - sign);
}

static float real_of(uint64_t bits) {
    uint32_t low = (uint32_t)bits;
    float x;
    memcpy(&x, &low, sizeof x);
    return x;
}

static MatrixMap new_map(const Reference *reference) {
    uint64_t count = count_of(reference->model);
    return (MatrixMap){arena_array(reference->arena, int32_t, count), arena_array(reference->arena, float, count)};
}

static MatrixMap read_input(const Reference *reference) {
    const MatrixModel *model = reference->model;
    MatrixMap map = new_map(reference);
    for (uint64_t k = 0; k < count_of(model); k++) {
        uint64_t bits = packed_read(model->input.ptr, k, dtype_bits(model->dtype));
        map.code[k] = model->dtype == DTYPE_F32 ? 0 : code_of(model->dtype, bits);
        map.x[k] = model->dtype == DTYPE_F32 ? real_of(bits) : 0;
    }
    return map;
}

/* The number of a channel, where the stage reads one. */
static StageFault bind(const Reference *reference, const NodeStage *from, const uint64_t *param, uint64_t channel,
                       BoundStage *bound) {
    Stage stage = from->stage;
    const MatrixModel *model = reference->model;
    if (from->param_count > 0) {
        CHECK(from->param_count == 1 && param != NULL);
        uint64_t bits = param[model->param_count == 1 ? 0 : channel];
        if (from->param[0].gives == GIVES_NUMBER) {
            stage.number = real_of(bits);
        } else {
            stage.integer.value = code_of(model->dtype, bits);
        }
    }
    return stage_bind(&stage, reference->semantics, bound);
}

/* Channels are the last axis of the file. */
static StageFault run_stage(const Reference *reference, const NodeStage *stage, const uint64_t *param, MatrixMap map) {
    uint64_t channels = reference->model->c, count = count_of(reference->model);
    StageFault fault = NULL;
    for (uint64_t c = 0; fault == NULL && c < channels; c++) {
        BoundStage bound;
        fault = bind(reference, stage, param, c, &bound);
        for (uint64_t k = c; fault == NULL && k < count; k += channels) {
            fault = bound_check(&bound, map.code[k], map.x[k]);
            bound_run(&bound, &map.code[k], &map.x[k], 1);
        }
    }
    return fault;
}

static const Node *find_node(const Graph *graph, const char *name) {
    const Block *block = graph_main(graph);
    uint32_t k = 0;
    while (!str_eq(graph_node(graph, block->nodes[k])->name, str_from(name))) {
        k++;
    }
    return graph_node(graph, block->nodes[k]);
}

static StageFault run_node(const Reference *reference, const char *name, const uint64_t *param, MatrixMap map) {
    NodeStages stages;
    const char *why = NULL;
    if (!node_stages(reference->graph, find_node(reference->graph, name), &stages, &why)) {
        return why;
    }
    for (uint32_t k = 0; why == NULL && k < stages.count; k++) {
        why = run_stage(reference, &stages.stage[k], param, map);
    }
    return why;
}

const char *matrix_reference(const MatrixModel *model, const Graph *graph, Semantics semantics, Arena *arena,
                             MatrixMap *y, MatrixMap *z) {
    const Reference reference = {model, graph, semantics, arena};
    MatrixMap map = read_input(&reference);
    const char *why = run_node(&reference, "limit", NULL, map);
    *z = (MatrixMap){NULL, NULL};
    if (why == NULL && graph_main(graph)->output_count == 2) {
        *z = new_map(&reference);
        memcpy(z->code, map.code, count_of(model) * sizeof *z->code);
        memcpy(z->x, map.x, count_of(model) * sizeof *z->x);
        why = run_node(&reference, "other", NULL, *z);
    }
    why = why != NULL ? why : run_node(&reference, "scale", model->param[MATRIX_SCALE], map);
    why = why != NULL ? why : run_node(&reference, "bias", model->param[MATRIX_BIAS], map);
    *y = map;
    return why;
}
