/* Rewriting changes no number: a model runs to the same bits as it is written, rewritten, and with the operators that
 * leave all as it is never written at all. A rewritten one is refused only where one without them is. --layout may name
 * the input; where a normalisation follows it, an operator without names of its own between the two matters, and only
 * rewriting must change nothing. The environment tells S0_CASES, how many to run, and S0_SEED, the first. */
#include "program/drawn_idle.h"

#include "affine/simplify.h"
#include "graph/passes.h"
#include "graph/text.h"
#include "plan/plan.h"
#include "program/program.h"
#include "sim/sim.h"

enum { CASES = 3000, MOST_BYTES = 1 << 12 };

typedef enum { NOT_RUN, RUN } Outcome;

typedef struct {
    const Text *text;
    uint64_t seed;            /* draws the device and --layout */
    bool rewrites, is_stated; /* by --layout */
    Outcome outcome;
    size_t length;
    uint8_t output[MOST_BYTES];
    char *why;
} Execution;

static const Device *draw_device(uint64_t *random, Work *work) {
    static const char *const maps[] = {"N C H W", "N H W C@16", "N H C/16 W C%16", "when C==1: N H W@16 C | N H W C@16",
                                       "bank[C%4] N C/4 H W"};
    const char *text = arena_text(
        &work->keep,
        "[device]\nname = drawn\nkind = scratchpad\n"
        "[memory local]\nbytes = %s @ test\nalign_bytes = 1 @ test\nlanes = 4 @ test\n"
        "[memory far]\nbytes = unbounded @ test\nalign_bytes = 1 @ test\n"
        "[contract]\nactivation = %s @ test\nweight = O I H W @ test\nparameter = %s @ test\n"
        "[parameter]\nscalar = 1 @ test\nchannel = 1 @ test\nrow = 1 @ test\nfull = 1 @ test\n"
        "[engine]\nvector_bytes_cycle = 16 @ test\nissue_cycles = 10 @ test\n"
        "descriptor_cycles = 10 @ test\nsync_cycles = 20 @ test\nmac_cycle = 8 @ test\n"
        "[dma]\nbytes_cycle = 8 @ test\nsetup_cycles = 50 @ test\nmax_bytes = 64K @ test\n",
        random_below(random, 2) == 0 ? "256K" : "3K", maps[random_below(random, 5)], maps[random_below(random, 5)]);
    return device_parse(work, str_from(text), STR("drawn.ini"));
}

static const BuiltProgram *build(Execution *run, Work *work, const Device **device) {
    uint64_t random = run->seed * 2 + 1;
    uint64_t stated = random_below(&random, 4);
    run->is_stated = stated < 2;
    LayoutBinding layout = {.tensor = STR("t0"), .is_channel_second = stated == 0};
    Simplified simplified;
    Graph *graph =
        graph_parse_text(work, (Span){(const uint8_t *)run->text->text, run->text->length}, STR("rewritten"));
    *device = draw_device(&random, work);
    if (graph == NULL || *device == NULL || !graph_check(graph, work)) {
        diags_print(&work->diags, "", stderr);
        fail_msg("the case is wrong:\n%s", run->text->text);
    }
    FileNote note = simplify_note(graph, &work->keep);
    if (!graph_infer(graph, work) || !graph_assign_names(graph, &layout, stated < 2 ? 1 : 0, work)) {
        return NULL;
    }
    if (run->rewrites) {
        simplify_graph(graph, NULL, &note, &(SimplifyOptions){.verify = false}, work, &simplified);
    }
    const Plan *plan =
        graph_fold_qdq(graph, work) ? plan_make(graph, *device, &(PlanOptions){.in_place = true}, work) : NULL;
    bool fits = plan != NULL && plan_fits(plan);
    return fits ? program_build(plan, graph->channels_last ? S0_SEM_TFLITE_DOUBLE : S0_SEM_ONNX, work) : NULL;
}

static void execute(Work *work, const void *argument) {
    Execution *run = *(Execution *const *)argument;
    const Device *device;
    const BuiltProgram *built = build(run, work, &device);
    run->why = messages_of(work);
    if (built == NULL) {
        return;
    }
    uint8_t input[MOST_BYTES];
    for (uint32_t k = 0; k < MOST_BYTES; k++) {
        input[k] = (uint8_t)(k % 4 == 3 ? 0x40 + k / 4 % 3 : k * 37); /* floats of 2 to 2^17, or codes */
    }
    Sim *sim = sim_new(built->program, device, work);
    assert_non_null(sim);
    const CmdBuffer *buffer = &built->program->buffers[built->inputs[0].buffer];
    uint64_t elements = 1;
    for (uint32_t k = 0; k < buffer->order.rank; k++) {
        elements *= buffer->order.extent[k];
    }
    assert_true(
        sim_write(sim, built->inputs[0].buffer, (Span){input, (size_t)(elements * dtype_bits(buffer->dtype) / 8)}));
    const SimResult *result = sim_run(sim);
    if (result->fault_count > 0) {
        fail_msg("%s:\n%s", result->fault[0].text, run->text->text);
    }
    uint64_t unwritten;
    Span output = sim_read(sim, built->outputs[0].buffer, &work->keep, &unwritten);
    assert_int_equal(unwritten, 0);
    assert_true(output.len <= MOST_BYTES);
    memcpy(run->output, output.ptr, output.len);
    run->length = output.len;
    run->outcome = RUN;
}

typedef struct {
    uint32_t idle, with_as_written, with_plain[FAMILIES];
} Compared;

static bool is_same(const Execution *a, const Execution *b) {
    return a->outcome == NOT_RUN || b->outcome == NOT_RUN ||
           (a->length == b->length && memcmp(a->output, b->output, a->length) == 0);
}

static bool holds(uint64_t seed, Text *const text[TEXTS], Compared *compared) {
    static Execution written, rewritten, plain, plain_rewritten;
    IdleDrawing drawing = {.random = (seed + 1) * 0x9E3779B97F4A7C15u, .text = {text[0], text[1]}};
    text[0]->length = text[1]->length = 0;
    draw_model(&drawing);
    written = (Execution){.text = text[WITH_IDLE], .seed = seed};
    rewritten = (Execution){.text = text[WITH_IDLE], .seed = seed, .rewrites = true};
    plain = (Execution){.text = text[WITHOUT_IDLE], .seed = seed};
    with_work(execute, &(Execution *){&written});
    with_work(execute, &(Execution *){&rewritten});
    with_work(execute, &(Execution *){&plain});
    plain_rewritten = (Execution){.text = text[WITHOUT_IDLE], .seed = seed, .rewrites = true};
    with_work(execute, &(Execution *){&plain_rewritten});
    bool is_refused = written.outcome == RUN && plain_rewritten.outcome == RUN && rewritten.outcome == NOT_RUN;
    bool is_other = written.is_stated && strstr(text[WITH_IDLE]->text, "BatchNormalization") != NULL;
    bool same =
        is_same(&written, &rewritten) && is_same(&plain, &plain_rewritten) && (is_other || is_same(&rewritten, &plain));
    if (is_refused || !same) {
        fprintf(stderr, "seed %u: %s\n%s\n%s", (unsigned)seed, same ? rewritten.why : "other numbers",
                text[WITH_IDLE]->text, text[WITHOUT_IDLE]->text);
    }
    compared->idle += drawing.idle;
    compared->with_as_written += written.outcome == RUN && rewritten.outcome == RUN;
    compared->with_plain[drawing.family] += plain.outcome == RUN && rewritten.outcome == RUN;
    free(written.why);
    free(rewritten.why);
    free(plain.why);
    free(plain_rewritten.why);
    return same && !is_refused;
}

static uint64_t number(const char *name, uint64_t absent) {
    const char *text = getenv(name);
    return text == NULL ? absent : strtoull(text, NULL, 10);
}

static void test_rewritten(void **state) {
    (void)state;
    Text *text[TEXTS] = {malloc(sizeof(Text)), malloc(sizeof(Text))};
    Compared compared = {0};
    uint64_t first = number("S0_SEED", 0), count = number("S0_CASES", CASES), wrong = 0;
    assert_true(text[0] != NULL && text[1] != NULL);
    for (uint64_t k = 0; k < count; k++) {
        wrong += !holds(first + k, text, &compared);
    }
    print_message("%u idle operators; compared with the model as it is written %u, with one that has none %u %u %u\n",
                  (unsigned)compared.idle, (unsigned)compared.with_as_written, (unsigned)compared.with_plain[FLOATS],
                  (unsigned)compared.with_plain[CODES], (unsigned)compared.with_plain[TFLITE]);
    free(text[0]);
    free(text[1]);
    assert_int_equal(wrong, 0);
    bool is_default = count == CASES && first == 0;
    assert_true(!is_default || compared.with_as_written > CASES / 8);
    for (Family f = 0; is_default && f < FAMILIES; f++) {
        assert_true(compared.with_plain[f] > CASES / 10);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rewritten)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
