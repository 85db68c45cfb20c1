/* Proves of a comparison of two plans
 *   - by chance, on pairs of plans whose graphs, devices and options are drawn: causes sum to the difference of the
 *     peaks, which are taken here by brute force, step by step; a plan that went through its JSON is the same plan, and
 *     gives the same causes; a plan and itself have none. S0_CASES says how many pairs, S0_SEED the first;
 *   - on examples made for it, that one cause is named, alone, with the bytes that a hand reckons;
 *   - that what is no plan's JSON, cut or changed anywhere, is told, and never more than that. */
#include "plan/planned.h"
#include "program/drawn_device.h"
#include "program/drawn_graph.h"

#include "ledger/diff.h"
#include "report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- By brute force */

static bool is_alive(const Plan *plan, uint32_t root, uint32_t step) {
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *buffer = &plan->buffers[i];
        if (buffer->storage.index == root && buffer->first <= step) {
            for (uint32_t k = 0; k < plan->buffer_count; k++) {
                if (plan->buffers[k].storage.index == root && step < plan->buffers[k].last) {
                    return true;
                }
            }
        }
    }
    return false;
}

static uint64_t peak_by_steps(const Plan *plan) {
    uint64_t peak = 0;
    for (uint32_t s = 0; s < plan->step_count; s++) {
        uint64_t live = 0;
        for (uint32_t i = 0; i < plan->buffer_count; i++) {
            bool is_one = plan->buffers[i].storage.index == i && plan->buffers[i].memory == plan->device->local;
            live += is_one && is_alive(plan, i, s) ? plan->buffers[i].physical_bytes : 0;
        }
        peak = live > peak ? live : peak;
    }
    return peak;
}

/* ---- Sides */

static const Facts *facts_of(const Plan *plan, Work *work) {
    arena_reset(&work->scratch);
    return plan == NULL ? NULL : facts_gather("drawn", plan, NULL, false, work);
}

static const Side *by_json(const Facts *facts, Work *work) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    report_json(facts, &work->scratch, out);
    assert_int_equal(fclose(out), 0);
    const Str kept = arena_str(&work->keep, (Str){text, length});
    free(text);
    const Span bytes = {(const uint8_t *)kept.ptr, kept.len};
    assert_true(side_is_json(bytes));
    return side_read(bytes, "a.json", work);
}

static const Diff *compare(const Side *a, const Side *b, Work *work) {
    const DiffChange change = {CAUSE_SEVERAL, "all", b};
    return diff_make(a, &change, 1, work);
}

static void check_none(const Diff *diff) {
    for (Cause cause = 0; cause < CAUSE_COUNT; cause++) {
        assert_int_equal(diff->causes[cause], 0);
    }
    assert_int_equal(diff->tensor_count, 0);
    assert_true(diff->outputs_stay);
}

/* ---- Pairs by chance */

typedef struct {
    const Plan *plan;
    const Side *side, *read;
} Half;

/* Names point into the text. */
static Graph *graph_of(const Drawn *drawn, Work *work) {
    const Str kept = arena_str(&work->keep, (Str){drawn->graph_text, drawn->graph_length});
    Span text = {(const uint8_t *)kept.ptr, kept.len};
    LayoutBinding layout = {.tensor = STR("x"), .is_channel_second = true};
    Graph *graph = graph_parse_text(work, text, STR("drawn"));
    bool ok = graph != NULL && graph_check(graph, work) && graph_inline(graph, work) &&
              graph_bind_dims(graph, NULL, 0, work) && graph_infer(graph, work) &&
              graph_assign_names(graph, &layout, drawn->is_channel_second ? 1 : 0, work);
    return ok ? graph : NULL;
}

/* False where the draw can't be planned. */
static bool make_half(const Genes *genes, bool is_arena, Work *work, Half *half) {
    Drawn drawn;
    draw_case(&drawn, genes, draw_graph, work);
    const Str text = arena_str(&work->keep, (Str){drawn.device_text, drawn.device_length});
    const Device *device = is_arena ? device_load(work, STR("mcu-cm")) : device_parse(work, text, STR("drawn.ini"));
    Graph *graph = graph_of(&drawn, work);
    PlanOptions options = drawn.options;
    assert_true(graph != NULL && device != NULL);
    half->plan = plan_make(graph, device, &options, work);
    free_case(&drawn);
    const Facts *facts = facts_of(half->plan, work);
    if (facts == NULL) {
        return false;
    }
    half->side = side_of_facts(facts, work);
    half->read = by_json(facts, work);
    assert_non_null(half->side);
    assert_non_null(half->read);
    return true;
}

/* What there is of each memory, and whether it is enough, as the plan has it. */
static void check_room(const Half *half) {
    const Side *sides[] = {half->side, half->read};
    for (int k = 0; k < 2; k++) {
        assert_int_equal(sides[k]->capacity_bytes, half->plan->capacity_bytes);
        assert_int_equal(sides[k]->backing_capacity_bytes, half->plan->backing_capacity_bytes);
        assert_int_equal(side_fits(sides[k]), plan_fits(half->plan));
        assert_true(str_eq(sides[k]->backing, half->plan->device->memory[half->plan->device->backing].name));
    }
}

static void check_pair(const Half *a, const Half *b, Work *work) {
    const Diff *diff = compare(a->side, b->side, work), *read = compare(a->read, b->read, work);
    const Diff *mixed = compare(a->read, b->side, work);
    int64_t sum = 0;
    for (Cause cause = 0; cause < CAUSE_PACKING; cause++) {
        sum += diff->causes[cause];
        if (diff->causes[cause] != read->causes[cause] || diff->causes[cause] != mixed->causes[cause]) {
            fail_msg("%s: %" PRId64 " of plans, %" PRId64 " of files, %" PRId64 " of both", cause_name(cause),
                     diff->causes[cause], read->causes[cause], mixed->causes[cause]);
        }
    }
    int64_t peak_change = (int64_t)peak_by_steps(b->plan) - (int64_t)peak_by_steps(a->plan);
    assert_int_equal(sum, peak_change);
    assert_int_equal(sum + diff->causes[CAUSE_PACKING],
                     (int64_t)b->plan->placed_bytes - (int64_t)a->plan->placed_bytes);
    assert_int_equal(diff->backing_bytes, (int64_t)b->plan->backing_bytes - (int64_t)a->plan->backing_bytes);
    assert_int_equal(read->backing_bytes, diff->backing_bytes);
    check_room(a);
    check_room(b);
    assert_int_equal(diff->outputs_stay, read->outputs_stay);
    assert_int_equal(diff->tensor_count, read->tensor_count);
    check_none(compare(a->side, a->read, work));
    check_none(compare(b->side, b->side, work));
}

static bool run_pair(uint64_t seed) {
    Work work;
    uint64_t random = seed;
    Half a = {0}, b = {0};
    Genes genes = draw_genes(2 * seed), other = draw_genes(2 * seed + 1);
    bool is_arena = random_below(&random, 3) == 0, is_other_arena = is_arena != (random_below(&random, 8) == 0);
    if (random_below(&random, 3) > 0) { /* some genes are other ones */
        Genes near = genes;
        for (uint64_t k = 1 + random_below(&random, 4); k > 0; k--) {
            uint64_t which = random_below(&random, GENES);
            near.gene[which] = other.gene[which];
        }
        other = near;
    }
    WORK_BEGIN(&work);
    bool is_pair = make_half(&genes, is_arena, &work, &a) && make_half(&other, is_other_arena, &work, &b);
    if (is_pair) {
        check_pair(&a, &b, &work);
    }
    work_free(&work);
    return is_pair;
}

static uint64_t number_of(const char *name, uint64_t absent) {
    const char *text = getenv(name);
    return text == NULL || *text == '\0' ? absent : strtoull(text, NULL, 10);
}

static void test_pairs(void **state) {
    const uint64_t count = number_of("S0_CASES", 5000), first = number_of("S0_SEED", 1);
    uint64_t pairs = 0, seed = first;
    (void)state;
    for (; pairs < count; seed++) {
        assert_true(seed - first < 2 * count + 10); /* most draws can be planned */
        pairs += run_pair(seed);
    }
    print_message("%" PRIu64 " pairs of %" PRIu64 " draws\n", pairs, seed - first);
}

/* ---- Examples */

#define DEVICE(kind, behind, activation, align, operator)                                                              \
    "[device]\nname = made\nkind = " kind "\n[memory local]\nbytes = 64K @ test\nalign_bytes = " align " @ test\n"     \
    "[memory " behind "]\nbytes = unbounded @ test\nalign_bytes = 16 @ test\n"                                         \
    "[contract]\nactivation = " activation " @ test\nweight = O H W I @ test\nparameter = N H W C @ test\n"            \
    "[parameter]\nscalar = 1 @ test\nchannel = 1 @ test\nrow = 1 @ test\nfull = 1 @ test\n"                            \
    operator

#define ARENA      DEVICE("arena", "flash", "N H W C", "1", "")
#define SCRATCHPAD DEVICE("scratchpad", "far", "N H W C", "1", "")

typedef struct {
    const char *name;
    const char *a, *b;               /* graphs */
    const char *a_device, *b_device; /* text */
    PlanOptions a_options, b_options;
    Cause cause;
    int64_t bytes;
} Example;

#define TWO_READERS(first, second)                                                                                     \
    "stride0-graph 1\ninput x int8[1,2,5,4]\nvalue a int8[1,2,5,8]\nvalue b int8[1,2,5,4]\nvalue c int8[1,2,5,4]\n"    \
    "value y int8[1,2,5,4]\n" first second "node Custom join: a c -> y\noutput y\n"
#define MAKES_A "node Custom f: x -> a\n"
#define MAKES_C "node Custom g: x -> b\nnode Custom h: b -> c\n"
#define MAP     "[1,3,5,4]"
#define ONE_MUL(k)                                                                                                     \
    "stride0-graph 1\ninput x int8" MAP "\nconst k int8" k "\nvalue y int8" MAP "\nnode Mul m: x k -> y\noutput y\n"
#define ONE_CUSTOM(op) "stride0-graph 1\ninput x int8" MAP "\nvalue y int8" MAP "\nnode " op " n: x -> y\noutput y\n"

/* 3 * 5 * 4 = 60 elements, each another; of a channel, 4. */
#define SIXTY                                                                                                          \
    MAP " = 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 " \
        "39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60"
#define FOUR "[4] = 1 2 3 4"

#define WHOLE                                                                                                          \
    { .in_place = true, .whole_tiles = true }

/* Each peak is a sum that the names and comments write out. */
static const Example examples[] = {
    {"constants smaller: 60 + 60 becomes 60 + 4, the output over the input's copy", ONE_MUL(SIXTY), ONE_MUL(FOUR),
     SCRATCHPAD, SCRATCHPAD, WHOLE, WHOLE, CAUSE_CONSTANTS, -56},
    {"constants larger", ONE_MUL(FOUR), ONE_MUL(SIXTY), SCRATCHPAD, SCRATCHPAD, WHOLE, WHOLE, CAUSE_CONSTANTS, 56},
    /* An arena reads k in flash, a scratchpad in local memory: x, y over x, and 4 of k. */
    {"constants come to local memory, which were read in flash", ONE_MUL(FOUR), ONE_MUL(FOUR), ARENA, SCRATCHPAD, WHOLE,
     WHOLE, CAUSE_CONSTANTS, 4},
    {"and go back to flash", ONE_MUL(FOUR), ONE_MUL(FOUR), SCRATCHPAD, ARENA, WHOLE, WHOLE, CAUSE_CONSTANTS, -4},
    {"form changed: 4 becomes 60",
     ONE_MUL(FOUR),
     ONE_MUL(FOUR),
     SCRATCHPAD,
     SCRATCHPAD,
     WHOLE,
     {.in_place = true, .whole_tiles = true, .strategy = STRATEGY_FULL, .expand_before = true},
     CAUSE_FORM,
     56},
    {"layout changed: pixels of 4 bytes become 16: two maps of 15",
     ONE_CUSTOM("Custom"),
     ONE_CUSTOM("Custom"),
     ARENA,
     DEVICE("arena", "flash", "N H W C@16", "1", ""),
     {0},
     {0},
     CAUSE_LAYOUT,
     2 * 15 * 12},
    {"layout changed: lines of 20 bytes padded to 24 no longer are",
     ONE_CUSTOM("Custom"),
     ONE_CUSTOM("Custom"),
     DEVICE("arena", "flash", "N H W@8 C", "1", ""),
     ARENA,
     {0},
     {0},
     CAUSE_LAYOUT,
     -2 * 3 * 4},
    /* f, g, h, join: x a | x a b | a b c | a c y: 40 + 80 + 40. g, h, f, join: x b | x b c | x c a | c a y: as much. */
    {"the order of operators, where the peak stays",
     TWO_READERS(MAKES_A, MAKES_C),
     TWO_READERS(MAKES_C, MAKES_A),
     ARENA,
     ARENA,
     {0},
     {0},
     CAUSE_LIFETIME,
     0},
    {"lifetime shortened: a of 80 is made before the others, then after them",
     "stride0-graph 1\ninput x int8[20]\nvalue a int8[80]\nvalue b int8[60]\nvalue c int8[20]\nvalue y int8[20]\n"
     "node Custom f: x -> a\nnode Custom g: x -> b\nnode Custom h: b -> c\nnode Custom j: a c -> y\noutput y\n",
     "stride0-graph 1\ninput x int8[20]\nvalue a int8[80]\nvalue b int8[60]\nvalue c int8[20]\nvalue y int8[20]\n"
     "node Custom g: x -> b\nnode Custom h: b -> c\nnode Custom f: x -> a\nnode Custom j: a c -> y\noutput y\n",
     ARENA,
     ARENA,
     {0},
     {0},
     CAUSE_LIFETIME,
     120 - 160},
    {"lifetime shortened: a temporary is gone: x t 60 + 60, then 60 + 20",
     "stride0-graph 1\ninput x int8[60]\nvalue t int8[60]\nvalue y int8[20]\nnode Custom f: x -> t\n"
     "node Custom g: t -> y\noutput y\n",
     "stride0-graph 1\ninput x int8[60]\nvalue y int8[20]\nnode Custom g: x -> y\noutput y\n",
     ARENA,
     ARENA,
     {0},
     {0},
     CAUSE_LIFETIME,
     -40},
    {"aliases lost: a Relu over its dying input",
     ONE_CUSTOM("Relu"),
     ONE_CUSTOM("Relu"),
     ARENA,
     ARENA,
     {.in_place = true},
     {0},
     CAUSE_ALIASES,
     60},
    {"workspace removed",
     ONE_CUSTOM("Custom(Fft)"),
     ONE_CUSTOM("Custom(Fft)"),
     DEVICE("arena", "flash", "N H W C", "1", "[operator Fft]\nworkspace = 100 @ test\n"),
     ARENA,
     {0},
     {0},
     CAUSE_WORKSPACE,
     -100},
    {"workspace more, by another operator",
     ONE_CUSTOM("Custom(Fft)"),
     ONE_CUSTOM("Custom(Dct)"),
     DEVICE("arena", "flash", "N H W C", "1", "[operator Dct]\nworkspace = 100 @ test\n"),
     DEVICE("arena", "flash", "N H W C", "1", "[operator Dct]\nworkspace = 100 @ test\n"),
     {0},
     {0},
     CAUSE_WORKSPACE,
     100},
    {"tensors smaller: int16 becomes int8",
     "stride0-graph 1\ninput x int16[30]\nvalue y int16[30]\nnode Custom n: x -> y\noutput y\n",
     "stride0-graph 1\ninput x int8[30]\nvalue y int8[30]\nnode Custom n: x -> y\noutput y\n",
     ARENA,
     ARENA,
     {0},
     {0},
     CAUSE_MAPS,
     -60},
};

static const Side *plan_example(const char *text, const char *device_text, PlanOptions options, Work *work) {
    const PlanCase test = {.options = options};
    Graph *graph = graph_parse_text(work, (Span){(const uint8_t *)text, strlen(text)}, STR("made"));
    const Device *device = device_parse(work, str_from(device_text), STR("made.ini"));
    bool ok = graph != NULL && device != NULL && planned_passes(graph, &test, work);
    const Plan *plan = ok ? plan_make(graph, device, &options, work) : NULL;
    if (plan == NULL) {
        fail_msg("%s", messages_of(work));
    }
    return side_of_facts(facts_of(plan, work), work);
}

static void check_example(const Example *example) {
    Work work;
    WORK_BEGIN(&work);
    const Side *a = plan_example(example->a, example->a_device, example->a_options, &work);
    const Side *b = plan_example(example->b, example->b_device, example->b_options, &work);
    const Diff *diff = compare(a, b, &work);
    for (Cause cause = 0; cause < CAUSE_PACKING; cause++) {
        int64_t expected = cause == example->cause ? example->bytes : 0;
        if (diff->causes[cause] != expected) {
            fail_msg("%s: %s is %" PRId64 ", not %" PRId64 "; peaks %" PRIu64 ", %" PRIu64, example->name,
                     cause_name(cause), diff->causes[cause], expected, a->peak_live_bytes, b->peak_live_bytes);
        }
    }
    work_free(&work);
}

static void test_examples(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof examples / sizeof *examples; k++) {
        check_example(&examples[k]);
    }
}

/* ---- What else differs */

static void test_tensors_and_outputs(void **state) {
    static const char before[] =
        "stride0-graph 1\ninput x int8[60] scale=0.5\nconst k int8[60] = 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 "
        "17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 "
        "45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60\nvalue t int8[60]\nvalue y int8[60] scale=0.5\n"
        "node Custom f: x k -> t\nnode Custom g: t -> y\noutput y\n";
    static const char after[] = "stride0-graph 1\ninput x int8[60] scale=0.5\nvalue y int8[60] scale=0.25\n"
                                "node Custom g: x -> y\noutput y\n";
    Work work;
    (void)state;
    WORK_BEGIN(&work);
    const Side *a = plan_example(before, ARENA, (PlanOptions){0}, &work);
    const Side *b = plan_example(after, ARENA, (PlanOptions){0}, &work);
    const Diff *diff = compare(a, b, &work);
    assert_int_equal(diff->tensor_count, 2);
    assert_true(str_eq(diff->tensors[0].name, STR("k")) && diff->tensors[0].is_constant);
    assert_true(diff->tensors[0].is_in_a && !diff->tensors[0].is_in_b);
    assert_int_equal(diff->tensors[0].a_bytes, 60);
    assert_true(str_eq(diff->tensors[1].name, STR("t")) && !diff->tensors[1].is_constant);
    assert_int_equal(diff->output_count, 1);
    assert_true(diff->outputs[0].is_known && !diff->outputs[0].is_same && !diff->outputs_stay);
    assert_true(diff->outputs[0].a->lo == -64 && diff->outputs[0].a->hi == 63.5);
    assert_true(diff->outputs[0].b->lo == -32 && diff->outputs[0].b->hi == 31.75);
    check_none(compare(a, a, &work));
    work_free(&work);
}

/* One buffer of k lies in flash of the arena; of the scratchpad one in far memory, and its local copy. */
static void test_comes_to_local_memory(void **state) {
    Work work;
    (void)state;
    WORK_BEGIN(&work);
    const PlanOptions options = WHOLE;
    const Side *a = plan_example(ONE_MUL(FOUR), ARENA, options, &work);
    const Side *b = plan_example(ONE_MUL(FOUR), SCRATCHPAD, options, &work);
    const Diff *diff = compare(a, b, &work), *back = compare(b, a, &work);
    assert_int_equal(diff->tensor_count, 1);
    assert_int_equal(back->tensor_count, 1);
    const DiffTensor *k = &diff->tensors[0];
    assert_true(str_eq(k->name, STR("k")) && k->is_constant && k->is_in_a && k->is_in_b);
    assert_true(!k->is_local_in_a && k->is_local_in_b);
    assert_int_equal(k->a_bytes, 4);
    assert_int_equal(k->b_bytes, 4);
    assert_int_equal(k->b_local_bytes, 4);
    assert_true(back->tensors[0].is_local_in_a && !back->tensors[0].is_local_in_b);
    assert_true(str_eq(a->backing, STR("flash")) && str_eq(b->backing, STR("far")));
    work_free(&work);
}

/* ---- Hostile files */

static char *json_of_example(size_t *length) {
    char *text = NULL;
    Work work;
    WORK_BEGIN(&work);
    const PlanCase test = {.graph = ONE_MUL(FOUR), .device = "teach"};
    const Facts *facts = facts_of(planned_run(&test, &work), &work);
    FILE *out = open_memstream(&text, length);
    assert_true(facts != NULL && out != NULL);
    report_json(facts, &work.scratch, out);
    assert_int_equal(fclose(out), 0);
    work_free(&work);
    return text;
}

/* Is the text a plan's? Where it is not, something was said. */
static bool reads(const char *text, size_t length) {
    Work work;
    WORK_BEGIN(&work);
    uint8_t *exact = malloc(length + (length == 0)); /* so that a byte read behind it is seen */
    assert_non_null(exact);
    memcpy(exact, text, length);
    const Side *side = side_read((Span){exact, length}, "a.json", &work);
    bool is_side = side != NULL;
    assert_int_equal(diags_failed(&work.diags), !is_side);
    free(messages_of(&work));
    if (is_side) {
        assert_int_equal(compare(side, side, &work)->peak_live_bytes, 0);
    }
    work_free(&work);
    free(exact);
    return is_side;
}

static void test_cut_anywhere(void **state) {
    size_t length;
    char *text = json_of_example(&length);
    (void)state;
    assert_true(reads(text, length));
    for (size_t k = 0; k + 2 < length; k += 1 + k / 997) {
        assert_false(reads(text, k));
    }
    free(text);
}

static void test_changed_anywhere(void **state) {
    static const char bytes[] = "{}[]\",:\\-0189.eEu \n\x01\x80\xff";
    size_t length;
    char *text = json_of_example(&length);
    uint64_t random = 7;
    (void)state;
    for (int k = 0; k < 3000; k++) {
        size_t at = (size_t)random_below(&random, length);
        char kept = text[at];
        text[at] = bytes[random_below(&random, sizeof bytes)];
        (void)reads(text, length);
        text[at] = kept;
    }
    free(text);
}

typedef struct {
    const char *text, *told;
} Wrong;

#define TOTALS                                                                                                         \
    "\"totals\": {\"peak_live_bytes\": 8, \"placed_bytes\": 8, \"capacity_bytes\": 9, "                                \
    "\"flash_bytes\": 0, \"far_bytes\": 0}"
#define BUFFER(last, storage)                                                                                          \
    "\"buffers\": [{\"name\": \"x\", \"node\": null, \"kind\": \"input\", \"dtype\": \"int8\", \"shape\": [8], "       \
    "\"logical_bytes\": 8, \"physical_bytes\": 8, \"memory\": \"local\", \"first\": 0, \"last\": " last                \
    ", \"storage\": " storage "}]"

/* A local buffer in a storage that lies elsewhere. */
#define ASTRAY                                                                                                         \
    "\"buffers\": [{\"name\": \"f\", \"node\": null, \"kind\": \"input\", \"dtype\": \"int8\", \"shape\": [8], "       \
    "\"logical_bytes\": 8, \"physical_bytes\": 8, \"memory\": \"far\", \"first\": 0, \"last\": 1, \"storage\": 0}, "   \
    "{\"name\": \"x\", \"node\": null, \"kind\": \"input\", \"dtype\": \"int8\", \"shape\": [8], \"logical_bytes\": "  \
    "8, "                                                                                                              \
    "\"physical_bytes\": 8, \"memory\": \"local\", \"first\": 0, \"last\": 1, \"storage\": 0}]"

static const Wrong wrongs[] = {
    {"", "an object"},
    {"{}", "no key schema"},
    {"{\"schema\": 2, ]", "schema 2"},
    {"{\"schema\": 1}", "no key totals"},
    {"{\"schema\": 1, \"totals\": {}}", "the key peak_live_bytes"},
    {"{\"schema\": 1, " TOTALS ", \"buffers\": [{}], \"steps\": []}", "the key storage"},
    {"{\"schema\": 1, " TOTALS ", " BUFFER("1", "0") "}", "no key steps"},
    {"{\"schema\": 1, " TOTALS ", " BUFFER("2", "0") ", \"steps\": [{}]}", "the range of buffer 0"},
    {"{\"schema\": 1, " TOTALS ", " BUFFER("1", "1") ", \"steps\": [{}]}", "the storage of buffer 0"},
    {"{\"schema\": 1, " TOTALS ", " ASTRAY ", \"steps\": [{}]}", "the storage of buffer 1"},
    {"{\"schema\": 1, " TOTALS ", " BUFFER("0", "0") ", \"steps\": [{}]}", "0 bytes are alive at most"},
    {"{\"schema\": 1, " TOTALS ", " BUFFER("1", "4294967295") ", \"steps\": [{}]}", "below 4294967295"},
    {"{\"schema\": 1, " TOTALS ", " BUFFER("-1", "0") ", \"steps\": [{}]}", "a whole number"},
    {"{\"schema\": 1, " TOTALS ", " BUFFER("1", "0") ", \"steps\": [{}]} x", "nothing behind"},
};

static void test_wrong_files(void **state) {
    (void)state;
    assert_true(reads("{\"schema\": 1, " TOTALS ", " BUFFER("1", "0") ", \"steps\": [{}]}",
                      strlen("{\"schema\": 1, " TOTALS ", " BUFFER("1", "0") ", \"steps\": [{}]}")));
    for (size_t k = 0; k < sizeof wrongs / sizeof *wrongs; k++) {
        Work work;
        WORK_BEGIN(&work);
        const Span bytes = {(const uint8_t *)wrongs[k].text, strlen(wrongs[k].text)};
        assert_null(side_read(bytes, "a.json", &work));
        if (!was_told(&work, wrongs[k].told)) {
            fail_msg("%s: %s", wrongs[k].text, messages_of(&work));
        }
        work_free(&work);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_tensors_and_outputs),
        cmocka_unit_test(test_comes_to_local_memory),
        cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_changed_anywhere),
        cmocka_unit_test(test_wrong_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
