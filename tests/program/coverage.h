/* What the drawn chains that passed were. */
#ifndef S0_TESTS_PROGRAM_COVERAGE_H
#define S0_TESTS_PROGRAM_COVERAGE_H

#include "program/drawn_device.h"

/* AXIS(id, what it is, names of its values) */
#define COVERAGE_AXES(AXIS)                                                                                            \
    AXIS(FORMAT, "format", "onnx", "tflite")                                                                           \
    AXIS(INPUT, "type of the input", "float32", "float16", "int2", "uint2", "int4", "uint4", "int8", "uint8", "int16", \
         "uint16", "int32")                                                                                            \
    AXIS(BETWEEN, "types given by nodes", "float32", "float16", "int2", "uint2", "int4", "uint4", "int8", "uint8",     \
         "int16", "uint16")                                                                                            \
    AXIS(RANK, "rank", "0", "1", "2", "3", "4", "5", "6")                                                              \
    AXIS(SHAPE, "shape", "N > 1", "C = 1", "C = H = W > 1", "C > 32, H W < 5", "W > 15", "one element")                \
    AXIS(STAGE, "stages", "mul", "add", "sub", "rsub", "div", "norm", "clip", "dequantize", "quantize", "code mul",    \
         "code add", "code requantize", "code clip")                                                                   \
    AXIS(NODES, "nodes", "1", "2", "3", "4", "5", "6", "7")                                                            \
    AXIS(READERS, "readers", "of the input", "of a map between")                                                       \
    AXIS(OUTPUTS, "outputs", "1", "2", "3")                                                                            \
    AXIS(PARAM, "parameters", "constant", "graph input", "codes", "read twice")                                        \
    AXIS(BROADCAST, "stored as", "scalar", "channel", "row", "full", "partial")                                        \
    AXIS(MATERIALISED, "materialised as", "channel", "row", "full")                                                    \
    AXIS(READABLE, "forms that are read", "all", "channel", "full", "scalar channel", "all but row", "channel full",   \
         "row full", "scalar full", "row", "all but scalar")                                                           \
    AXIS(GRAIN, "grain of channels", "1", "4", "8", "32", "3")                                                         \
    AXIS(LAYOUT, "contract of maps", "a device's", "random")                                                           \
    AXIS(PARAM_LAYOUT, "contract of parameters", "a device's", "random", "as maps")                                    \
    AXIS(TERMS, "contracts with", "guard", "bank", "blocks", "min", "@align", "+head", "total", "base", "tail")        \
    AXIS(ALIGN, "alignment", "1", "16", "32", "64", "4", "12")                                                         \
    AXIS(ASKED, "--schedule", "auto", "fused", "split", "pipelined")                                                   \
    AXIS(SCHEDULE, "schedule", "fused", "split", "pipelined")                                                          \
    AXIS(TILE, "--tile", "auto", "none", "rows")                                                                       \
    AXIS(CUT, "tiles", "whole", "of N", "of C", "of H", "of W", "with tails")                                          \
    AXIS(CARRY, "carried", "not", "in the output", "in the input", "in workspace")                                     \
    AXIS(OVER, "output", "beside the input", "over the input")                                                         \
    AXIS(STAYS, "parameters", "reloaded", "resident")                                                                  \
    AXIS(WHOLE, "maps", "from far memory", "to far memory", "whole in local memory")                                   \
    AXIS(IN_PLACE, "--inplace", "none", "auto")                                                                        \
    AXIS(STRATEGY, "--strategy", "auto", "scalar", "channel", "row", "full")                                           \
    AXIS(FOLD, "--qdq", "float", "int")                                                                                \
    AXIS(SWEEPS, "sweeps", "1", "2", "more")                                                                           \
    AXIS(MEMORY, "memory", "the device's", "a budget", "just what is needed")                                          \
    AXIS(CHANNELS, "DMA channels", "1", "2", "3")                                                                      \
    AXIS(BURST, "burst_bytes", "-", "8", "64", "12", "100")                                                            \
    AXIS(LEAST, "min_bytes", "-", "1", "8", "32", "5")                                                                 \
    AXIS(MOST, "max_bytes", "-", "4096", "512", "1000")                                                                \
    AXIS(UNIT, "align_bytes of a transfer", "-", "1", "4", "8", "3")

#include "program/cover.h"

/* ---- What was drawn */

static inline void cover_shape(Coverage *coverage, const Drawn *drawn) {
    uint64_t extent[4], elements = 1;
    for (uint32_t k = 0; k < 4; k++) {
        extent[k] = drawn->extent[drawn->axis_of[k]];
    }
    for (uint32_t k = 0; k < AXES; k++) {
        elements *= drawn->extent[k];
    }
    cover(coverage, COVER_RANK, drawn->rank);
    cover_if(coverage, COVER_SHAPE, 0, extent[0] > 1);
    cover_if(coverage, COVER_SHAPE, 1, extent[1] == 1);
    cover_if(coverage, COVER_SHAPE, 2, extent[1] == extent[2] && extent[2] == extent[3] && extent[3] > 1);
    cover_if(coverage, COVER_SHAPE, 3, extent[1] > 32 && extent[2] < 5 && extent[3] < 5);
    cover_if(coverage, COVER_SHAPE, 4, extent[3] > 15);
    cover_if(coverage, COVER_SHAPE, 5, elements == 1);
}

static inline void cover_nodes(Coverage *coverage, const Drawn *drawn) {
    uint32_t outputs = 0;
    cover_name(coverage, COVER_INPUT, dtype_name(drawn->input_dtype));
    cover(coverage, COVER_NODES, drawn->node_count - 1);
    for (uint32_t n = 0; n < drawn->node_count; n++) {
        const DrawnNode *node = &drawn->node[n];
        outputs += node->is_output;
        cover_name(coverage, COVER_BETWEEN, dtype_name(node->dtype));
        cover_if(coverage, COVER_READERS, node->from > 0, node->from != n);
        for (uint32_t k = 0; k < node->param_count; k++) {
            const DrawnParam *param = &node->param[k];
            cover(coverage, COVER_PARAM, param->is_given ? 1 : param->is_coded ? 2 : 0);
            cover_if(coverage, COVER_PARAM, 3, param->is_shared);
        }
    }
    cover(coverage, COVER_OUTPUTS, outputs - 1);
}

static inline void cover_layouts(Coverage *coverage, const Drawn *drawn) {
    static const char *const sign[] = {"when", "bank", "/", "^", "@", "+", "total@", "base@", "tail+"};
    bool is_same = strcmp(drawn->layout[0], drawn->layout[1]) == 0;
    cover(coverage, COVER_LAYOUT, drawn->is_random_layout[0]);
    cover(coverage, COVER_PARAM_LAYOUT, is_same ? 2 : drawn->is_random_layout[1]);
    for (uint32_t k = 0; k < sizeof sign / sizeof sign[0]; k++) {
        const char *at = strstr(drawn->layout[0], sign[k]);
        while (at != NULL && sign[k][1] == '\0' && at > drawn->layout[0] && at[-1] == 'l') { /* of total@, of tail+ */
            at = strstr(at + 1, sign[k]);
        }
        cover_if(coverage, COVER_TERMS, k, at != NULL && !(sign[k][0] == '@' && at[-1] == 'e'));
    }
}

static inline void cover_device(Coverage *coverage, const Drawn *drawn) {
    static const uint8_t most[MOSTS_DRAWN] = {0, 0, 0, 0, 1, 1, 3, 2};
    static const uint8_t readable[sizeof readable_forms] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0};
    cover(coverage, COVER_READABLE, readable[gene(drawn, GENE_FORMS, sizeof readable_forms)]);
    cover(coverage, COVER_GRAIN, gene(drawn, GENE_GRAIN, GRAINS_DRAWN));
    cover(coverage, COVER_ALIGN, gene(drawn, GENE_ALIGN, 6));
    cover(coverage, COVER_CHANNELS, gene(drawn, GENE_CHANNELS, 3));
    cover(coverage, COVER_BURST, gene(drawn, GENE_BURST, BURSTS_DRAWN));
    cover(coverage, COVER_LEAST, gene(drawn, GENE_MIN, LEASTS_DRAWN));
    cover(coverage, COVER_MOST, most[gene(drawn, GENE_MAX, MOSTS_DRAWN)]);
    cover(coverage, COVER_UNIT, gene(drawn, GENE_DMA_ALIGN, UNITS_DRAWN));
}

static inline void cover_options(Coverage *coverage, const Drawn *drawn) {
    const PlanOptions *options = &drawn->options;
    cover(coverage, COVER_ASKED, options->schedule);
    cover(coverage, COVER_TILE, options->whole_tiles ? 1 : options->tile_rows > 0 ? 2 : 0);
    cover(coverage, COVER_IN_PLACE, options->in_place);
    cover(coverage, COVER_STRATEGY, options->strategy);
    cover(coverage, COVER_FOLD, gene(drawn, GENE_FOLD, 2));
    cover(coverage, COVER_MEMORY, drawn->has_just_enough ? 2 : options->budget_bytes > 0);
}

/* ---- What was planned */

static inline void cover_stages(Coverage *coverage, const PlannedSweep *planned) {
    for (uint32_t n = 0; n < planned->node_count; n++) {
        for (uint32_t s = 0; s < planned->stages[n].count; s++) {
            cover(coverage, COVER_STAGE, planned->stages[n].stage[s].stage.kind);
        }
    }
}

static inline void cover_sweep(Coverage *coverage, const PlannedSweep *planned) {
    static const Dim dims[] = {DIM_N, DIM_C, DIM_H, DIM_W};
    const SweepChoice *choice = &planned->chosen.best.choice;
    const Sweep *sweep = &planned->sweep;
    bool has_tails = false;
    for (uint32_t k = 0; k < 4; k++) {
        uint64_t whole = sweep->in.shape.extent[dims[k]], tile = choice->tile[dims[k]];
        cover_if(coverage, COVER_CUT, 1 + k, tile < whole);
        has_tails = has_tails || (tile > 0 && whole % tile != 0);
    }
    cover_if(coverage, COVER_CUT, 0, planned->chosen.best.cost.tiles == 1);
    cover_if(coverage, COVER_CUT, 5, has_tails);
    cover(coverage, COVER_SCHEDULE, choice->schedule - SCHEDULE_FUSED);
    cover(coverage, COVER_CARRY, choice->carry);
    cover(coverage, COVER_OVER, choice->over_input);
    cover_if(coverage, COVER_STAYS, choice->is_resident, sweep->param_count > 0);
    cover_if(coverage, COVER_WHOLE, 0, sweep->in.is_far);
    cover_if(coverage, COVER_WHOLE, 1, sweep->out.is_far);
    cover_if(coverage, COVER_WHOLE, 2, !sweep->in.is_far || !sweep->out.is_far);
    cover_stages(coverage, planned);
}

static inline void cover_plan(Coverage *coverage, const Plan *plan) {
    cover_if(coverage, COVER_SWEEPS, plan->sweep_count < 3 ? plan->sweep_count - 1 : 2, plan->sweep_count > 0);
    for (uint32_t s = 0; s < plan->sweep_count; s++) {
        cover_sweep(coverage, &plan->sweeps[s]);
    }
    for (uint32_t k = 0; k < plan->buffer_count; k++) {
        const Buffer *buffer = &plan->buffers[k];
        bool is_form = buffer->memory == plan->device->local && buffer->broadcast != BROADCAST_NONE;
        cover_if(coverage, COVER_BROADCAST, buffer->broadcast - BROADCAST_SCALAR, is_form);
        cover_if(coverage, COVER_MATERIALISED, buffer->broadcast - BROADCAST_CHANNEL,
                 is_form && buffer->materialised_reason != NULL);
    }
}

static inline void cover_case(Coverage *coverage, const Drawn *drawn, const Plan *plan) {
    cover(coverage, COVER_FORMAT, drawn->is_tflite);
    cover_shape(coverage, drawn);
    cover_nodes(coverage, drawn);
    cover_layouts(coverage, drawn);
    cover_device(coverage, drawn);
    cover_options(coverage, drawn);
    cover_plan(coverage, plan);
}

#endif
