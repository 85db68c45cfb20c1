/* Proves on real files that node_stages, its parameters filled in from the constants, is what the simplifier reads of
 * the same operators channel by channel, wherever that reads them: of single operators as the file has them, and of
 * Dequantize - operator - Quantize, which graph_fold_qdq makes one node. The two readers share no code. Reads the
 * models of S0_SHARED_DIR, the examples, and libonnx's test data where Debian's package is installed. */
#include "affine/affine.h"
#include "graph/fold.h"
#include "graph/support.h"
#include "import/import.h"
#include "node/stages.h"
#include "support/corpus.h"

static Corpus corpus;

static int find_files(void **state) {
    (void)state;
    corpus_add(&corpus, CORPUS_LIBONNX, ".onnx");
    corpus_add(&corpus, S0_SOURCE_DIR "/examples", ".onnx");
    corpus_add(&corpus, S0_SOURCE_DIR "/examples", ".tflite");
    if (S0_SHARED_DIR[0] != '\0') {
        corpus_add(&corpus, S0_SHARED_DIR "/models", ".onnx");
        corpus_add(&corpus, S0_SHARED_DIR "/models", ".tflite");
    }
    return 0;
}

static int forget_files(void **state) {
    (void)state;
    corpus_free(&corpus);
    return 0;
}

typedef struct {
    size_t nodes, folded, channels;
} Tally;

typedef struct {
    const char *path;
    Graph *graph;
    Work *work;
    Tally *tally;
} Reading;

/* ---- The parameters of a channel */

static double stored_at(const Reading *r, const Value *value, uint32_t channel) {
    Floats numbers;
    assert_true(value != NULL && const_numbers(value, &r->work->scratch, &numbers) && numbers.count > 0);
    return numbers.at[numbers.count == 1 ? 0 : channel];
}

/* A number, or constant codes behind a Dequantize. */
static double number_at(const Reading *r, const Value *value, uint32_t channel) {
    const Node *maker = is_node(value->producer) ? graph_node(r->graph, value->producer) : NULL;
    if (maker == NULL || maker->op != OP_DEQUANTIZE) {
        return stored_at(r, value, channel);
    }
    bool has_zero = maker->input_count > 2 && is_value(maker->inputs[2]);
    double zero = has_zero ? stored_at(r, node_input(r->graph, maker, 2), channel) : 0;
    float steps = (float)(stored_at(r, node_input(r->graph, maker, 0), channel) - zero);
    return (double)(steps * (float)stored_at(r, node_input(r->graph, maker, 1), channel));
}

static void fill_param(const Reading *r, const Node *node, const StageParam *param, uint32_t channel, Stage *stage) {
    double number = number_at(r, node_input(r->graph, node, param->input), channel);
    float real = (float)number;
    if (param->is_coded) {
        real = (float)(number - param->code.zero_point) * param->code.scale;
    }
    switch (param->gives) {
    case GIVES_NUMBER:
        stage->number = real;
        break;
    case GIVES_VALUE:
        stage->integer.value = (int32_t)number;
        break;
    case GIVES_GAMMA:
        stage->norm.gamma = real;
        break;
    case GIVES_BETA:
        stage->norm.beta = real;
        break;
    case GIVES_MEAN:
        stage->norm.mean = real;
        break;
    case GIVES_VARIANCE:
        stage->norm.variance = real;
        break;
    case GIVES_SCALE:
        stage->code.scale = real;
        break;
    case GIVES_ZERO_POINT:
        stage->code.zero_point = (int32_t)number;
        break;
    case GIVES_LO:
        stage->clip.lo = real;
        break;
    case GIVES_HI:
        stage->clip.hi = real;
        break;
    }
}

static void compare(const Reading *r, const Node *node, const Stage *const *channels, uint32_t channel_count,
                    uint32_t stage_count) {
    NodeStages stages;
    const char *why;
    if (!node_stages(r->graph, node, &stages, &why)) {
        fail_msg("%s, node '" STR_FMT "': %s", r->path, STR_ARG(node->name), why);
    }
    assert_int_equal(stages.count, stage_count);
    for (uint32_t c = 0; c < channel_count; c++) {
        for (uint32_t k = 0; k < stages.count; k++) {
            Stage stage = stages.stage[k].stage;
            for (uint32_t p = 0; p < stages.stage[k].param_count; p++) {
                fill_param(r, node, &stages.stage[k].param[p], c, &stage);
            }
            if (!stage_eq(&stage, &channels[c][k])) {
                fail_msg("%s, node '" STR_FMT "': stage %u of channel %u differs", r->path, STR_ARG(node->name),
                         (unsigned)k, (unsigned)c);
            }
        }
    }
    r->tally->channels += channel_count;
}

/* ---- What the simplifier reads */

/* Of a graph that nothing has been rewritten in. */
static Rewriter reader_of(Graph *graph, Work *work) {
    Rewriter rw = {.graph = graph, .work = work, .first_count = graph->value_count};
    bool *is_callers = arena_array(&work->keep, bool, graph->value_count);
    for (uint32_t v = 0; v < graph->value_count; v++) {
        is_callers[v] = graph->values[v].is_default;
    }
    rw.is_callers = is_callers;
    return rw;
}

static bool is_same_map(const Graph *graph, const Affine *affine) {
    const Value *in = graph_value(graph, affine->in), *out = graph_value(graph, affine->out);
    return in->has_shape && out->has_shape && shape_eq(&in->shape, &out->shape);
}

static const Stage **channels_of(const Affine *affine, Work *work) {
    const Stage **channels = arena_array(&work->keep, const Stage *, affine->channels);
    Stage *all = arena_array(&work->keep, Stage, (size_t)affine->channels * affine->node_count);
    memcpy(all, affine->stages, (size_t)affine->channels * affine->node_count * sizeof *all);
    for (uint32_t c = 0; c < affine->channels; c++) {
        channels[c] = all + (size_t)c * affine->node_count;
    }
    return channels;
}

static void check_node(const Reading *r, const Rewriter *rw, NodeId id) {
    const Node *node = graph_node(r->graph, id);
    Affine affine;
    if (node->is_constant || node->output_count != 1 || !is_value(node->outputs[0]) ||
        !affine_read(rw, &id, 1, &affine) || !is_same_map(r->graph, &affine)) {
        return;
    }
    r->tally->nodes++;
    compare(r, node, channels_of(&affine, r->work), affine.channels, 1);
}

/* ---- Runs that graph_fold_qdq makes one node */

/* The simplifier takes no constant behind a Dequantize for known. Here it is given what those of one scale stand for.
 */
static void know_reals(const Reading *r, const Node *dequantize) {
    const Value *coded = node_input(r->graph, dequantize, 0), *scale = node_input(r->graph, dequantize, 1);
    const Value *zero = node_input(r->graph, dequantize, 2);
    Value *real = node_output(r->graph, dequantize, 0);
    Floats codes, scales;
    if (coded == NULL || scale == NULL || real == NULL || real->dtype != DTYPE_F32 ||
        !const_numbers(coded, &r->work->scratch, &codes) || !const_numbers(scale, &r->work->scratch, &scales) ||
        scales.count != 1) {
        return;
    }
    float *reals = arena_array(&r->work->keep, float, codes.count);
    double zero_point = zero == NULL ? 0 : number_at(r, zero, 0);
    for (uint32_t k = 0; k < codes.count; k++) {
        reals[k] = (float)(codes.at[k] - zero_point) * (float)scales.at[0];
    }
    Const *constant = arena_new(&r->work->keep, Const);
    *constant = (Const){
        .stored = real->shape, .bytes = {(const uint8_t *)reals, codes.count * sizeof *reals}, .is_known = true};
    real->constant = constant;
}

static void know_all_reals(const Reading *r) {
    for (uint32_t n = 0; n < r->graph->node_count; n++) {
        const Node *node = &r->graph->nodes[n];
        if (node->is_constant && node->op == OP_DEQUANTIZE) {
            know_reals(r, node);
        }
    }
}

enum { RUN_MOST = 4 };

typedef struct {
    ValueId in, out;
    uint32_t channel_count, stage_count;
    const Stage **channels;
} Run;

/* Upwards through the operands that are no constants, from a Quantize to a Dequantize. */
static uint32_t find_run(const Graph *graph, NodeId last, NodeId nodes[RUN_MOST]) {
    NodeId found[RUN_MOST];
    uint32_t count = 0;
    for (NodeId id = last; count < RUN_MOST && is_node(id);) {
        const Node *node = graph_node(graph, id);
        found[count++] = id;
        if (node->op == OP_DEQUANTIZE && count > 1) {
            for (uint32_t k = 0; k < count; k++) {
                nodes[k] = found[count - 1 - k];
            }
            return count;
        }
        uint32_t k =
            node->input_count > 1 && is_value(node->inputs[0]) && graph_value(graph, node->inputs[0])->constant != NULL
                ? 1
                : 0;
        id = node->input_count > k && is_value(node->inputs[k]) ? graph_value(graph, node->inputs[k])->producer
                                                                : NO_NODE;
    }
    return 0;
}

static size_t read_runs(const Reading *r, const Rewriter *rw, Run *runs) {
    const Block *main_block = graph_main(r->graph);
    size_t count = 0;
    for (uint32_t at = 0; at < main_block->node_count; at++) {
        NodeId nodes[RUN_MOST], id = main_block->nodes[at];
        Affine affine;
        if (graph_node(r->graph, id)->op != OP_QUANTIZE || graph_node(r->graph, id)->is_constant) {
            continue;
        }
        uint32_t length = find_run(r->graph, id, nodes);
        if (length == 0 || !affine_read(rw, nodes, length, &affine) || !is_same_map(r->graph, &affine)) {
            continue;
        }
        runs[count++] = (Run){affine.in, affine.out, affine.channels, length, channels_of(&affine, r->work)};
    }
    return count;
}

/* What became one node reads the codes of the Dequantize itself. */
static void check_run(const Reading *r, const Run *run) {
    NodeId id = graph_value(r->graph, run->out)->producer;
    const Node *node = graph_node(r->graph, id);
    bool is_one = node->op != OP_IDENTITY && node_str(node, "reals").len > 0;
    bool reads = false;
    for (uint32_t k = 0; k < node->input_count; k++) {
        reads = reads || node->inputs[k].index == run->in.index;
    }
    if (is_one && reads) {
        r->tally->folded++;
        compare(r, node, run->channels, run->channel_count, run->stage_count);
    }
}

/* ---- Files */

/* Free dimensions are of 2, that a map of a batch is no parameter. */
static bool complete(Graph *graph, Work *work) {
    size_t count;
    DimBinding *free_dims = graph_free_dims(graph, &work->keep, &count);
    for (size_t k = 0; k < count; k++) {
        free_dims[k].value = 2;
    }
    return graph_inline(graph, work) && graph_bind_dims(graph, free_dims, count, work) &&
           graph_infer_known(graph, true, work) && graph_assign_names(graph, NULL, 0, work);
}

static void check_graph(Reading *r) {
    const Block *main_block = graph_main(r->graph);
    Rewriter rw = reader_of(r->graph, r->work);
    for (uint32_t at = 0; at < main_block->node_count; at++) {
        check_node(r, &rw, main_block->nodes[at]);
        arena_reset(&r->work->scratch);
    }
    know_all_reals(r);
    Run *runs = arena_array(&r->work->keep, Run, main_block->node_count);
    size_t count = read_runs(r, &rw, runs);
    if (!graph_fold_qdq(r->graph, r->work)) {
        return;
    }
    for (size_t k = 0; k < count; k++) {
        check_run(r, &runs[k]);
        arena_reset(&r->work->scratch);
    }
}

static void check_file(const char *path, Tally *tally) {
    Work work;
    ModelFiles files = {0};
    WORK_BEGIN(&work);
    Graph *graph = import_model(&work, path, &files);
    if (graph != NULL && graph_check(graph, &work) && complete(graph, &work)) {
        Reading reading = {path, graph, &work, tally};
        check_graph(&reading);
    }
    import_close(&files);
    work_free(&work);
}

static bool ends_with_name(const char *path, const char *name) {
    return str_ends(str_from(path), str_from(name));
}

static void reads_what_the_simplifier_reads(void **state) {
    (void)state;
    Tally tally = {0};
    for (size_t k = 0; k < corpus.count; k++) {
        check_file(corpus.path[k], &tally);
    }
    print_message("%zu files: %zu nodes and %zu folded ones, %zu channels\n", corpus.count, tally.nodes, tally.folded,
                  tally.channels);
    assert_true(tally.nodes > 0 && tally.folded > 0); /* of the examples */
}

/* Models whose chains are known to be read, and how many nodes these have, single and folded. */
static const struct {
    const char *name;
    size_t nodes, folded;
} chains[] = {
    {"/mww_okay_nabu_v1.tflite", 1, 0},        {"/rfb320_muladd.onnx", 1, 0},   {"/light_densenet121.onnx", 1, 0},
    {"/mobilenetv2_128_05_qdq_bn.onnx", 1, 0}, {"/examples/affine.onnx", 1, 2},
};

static void reads_the_chains_of_known_models(void **state) {
    (void)state;
    if (S0_SHARED_DIR[0] == '\0') {
        print_message("S0_SHARED is not given: models with chains\n");
        skip();
    }
    for (size_t k = 0; k < sizeof chains / sizeof chains[0]; k++) {
        Tally tally = {0};
        for (size_t f = 0; f < corpus.count; f++) {
            if (ends_with_name(corpus.path[f], chains[k].name)) {
                check_file(corpus.path[f], &tally);
            }
        }
        print_message("%s: %zu nodes, %zu folded\n", chains[k].name, tally.nodes, tally.folded);
        assert_true(tally.nodes >= chains[k].nodes && tally.folded >= chains[k].folded);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_the_simplifier_reads),
        cmocka_unit_test(reads_the_chains_of_known_models),
    };
    return cmocka_run_group_tests(tests, find_files, forget_files);
}
