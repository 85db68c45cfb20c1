/* Cases F, H3 and L from the field: who may share whose bytes, and what a constant costs that has several readers.
 *
 * Proves: that a plan does not depend on names; for each output whether it is an alias, of what kind or why not, with
 * the node that stands in the way; that everything in local memory begins where the device wants it; that a constant is
 * counted once for each form that is read. Reasons and peaks follow by hand from docs/json.md and docs/contracts.md. */
#include "cases.h"

#include "graph/box.h"

/* ---- F, H3 */

typedef struct {
    const char *what;
    const char *text;
    const char *node, *tensor; /* the output that is looked at; of node n by default */
    AliasReason alias;
    AliasRefusal refusal;
    const char *refused_by;             /* node that reads later */
    uint64_t peak_bytes[EXTENTS_COUNT]; /* all different, all equal; 0 is not looked at */
    const char *device;                 /* mcu-cm by default: maps dense, sizes rounded to 16 */
} Sharing;

#define SLICE(map, part)                                                                                               \
    "format tflite\ninput X int8" map "\nconst b int32[4] = 0 1 0 0\nconst z int32[4] = 1 2 -1 -1\nvalue t int8" map   \
    "\nvalue v int8" part "\nvalue Y int8" part "\nnode Relu r: X -> t\nnode SLICE c: t b z -> v\nnode Relu n: v -> "  \
    "Y\noutput Y\n"

#define CONCAT(map, part)                                                                                              \
    "format tflite\ninput X int8" part "\ninput Z int8" part "\nvalue p int8" part "\nvalue q int8" part               \
    "\nvalue v int8" map "\nvalue Y int8" map                                                                          \
    "\nnode Custom a: X -> p\nnode Custom b: Z -> q\nnode Concat c: p q -> v axis=1\n"                                 \
    "node Custom n: v -> Y\noutput Y\n"

static const Sharing sharings[] = {
    {"F1: what a later step reads is kept",
     "format onnx 13\ninput b float32[2]\nconst k float32[1] = 10\nnode Add n: b k -> c\nnode Mul op1: b k -> d\n"
     "output c\noutput d\n",
     .tensor = "c", .refusal = REFUSED_LATER_READER, .refused_by = "op1", .peak_bytes = {32, 32}},
    {"F1: the last reader may write over it",
     "format onnx 13\ninput b float32[2]\nconst k float32[1] = 10\nnode Add m: b k -> c\nnode Mul n: b k -> d\n"
     "output c\noutput d\n",
     .tensor = "d", .alias = ALIAS_IN_PLACE, .peak_bytes = {32, 32}},
    {"F1: also where the later step reads a view of it",
     "format onnx 13\ninput X float32[A,B]\nconst k int64[1] = -1\nnode Custom m: X -> b\nvalue b float32[A,B]\n"
     "node Reshape v: b k -> w\nnode Sigmoid n: b -> c\nnode Relu op1: w -> d\noutput c\noutput d\n",
     .tensor = "c", .refusal = REFUSED_LATER_READER, .refused_by = "op1"},
    {"F1: what the caller is given is kept",
     "format onnx 13\ninput X float32[A,B]\nnode Sigmoid m: X -> b\nnode Relu n: b -> c\noutput b\noutput c\n",
     .tensor = "c", .refusal = REFUSED_GRAPH_OUTPUT},
    {"F1: also where it is the input that is passed on",
     "format onnx 13\ninput X float32[A,B]\nnode Relu n: X -> c\noutput X\noutput c\n", .tensor = "c",
     .refusal = REFUSED_GRAPH_OUTPUT},
    {"F1: a broadcast operand is smaller than what is written",
     "format onnx 13\ninput X float32[A,1]\ninput b float32[A,B]\nnode Relu m: X -> t\nnode Relu q: b -> u\n"
     "node Add n: t u -> c\noutput c\n",
     .tensor = "c", .alias = ALIAS_IN_PLACE},
    {"F1: both operands broadcast",
     "format onnx 13\ninput X float32[A,1]\ninput b float32[1,B]\nnode Relu m: X -> t\nnode Relu q: b -> u\n"
     "node Add n: t u -> c\noutput c\n",
     .tensor = "c", .refusal = REFUSED_BROADCAST},
    {"F1: another dtype", "format onnx 13\ninput X float32[A,B]\nnode Cast n: X -> c to=3\noutput c\n", .tensor = "c",
     .refusal = REFUSED_DTYPE},
    {"F2: an output that nobody reads is written too",
     "input X int8[64]\nvalue O int8[64]\nvalue unread int8[64]\nnode Custom n: X -> O unread\noutput O\n",
     .tensor = "unread", .peak_bytes = {192, 192}},
    {"F4: a transposition between two sides that have names moves elements",
     "format onnx 13\ninput X int8[1,B,C,D]\nnode MaxPool p: X -> x kernel_shape=[1,1]\n"
     "node Transpose n: x -> y perm=[0,2,3,1]\nnode MaxPool q: y -> Y kernel_shape=[1,1]\noutput Y\n",
     .tensor = "y", .refusal = REFUSED_ELEMENT_ORDER, .peak_bytes = {2 * 112, 2 * 64}},
    {"F4: the same where no name is known",
     "format onnx 13\ninput X int8[1,B,C,D]\nnode Relu p: X -> x\nnode Transpose n: x -> y perm=[0,2,3,1]\n"
     "node Relu q: y -> Y\noutput Y\n",
     .tensor = "y", .refusal = REFUSED_ELEMENT_ORDER, .peak_bytes = {2 * 112, 2 * 64}},
    {"F4: where the names go with the axes it moves nothing",
     "format onnx 13\ninput X int8[1,B,C,D]\nnode MaxPool p: X -> x kernel_shape=[1,1]\n"
     "node Transpose n: x -> y perm=[0,2,3,1]\nnode Relu q: y -> z\nnode Custom e: z -> Y\nvalue Y int8[1]\n"
     "output Y\n",
     .node = "e", .tensor = "z", .alias = ALIAS_IN_PLACE, .peak_bytes = {2 * 112, 2 * 64}},
    {"F4: nor where all but one extent is 1",
     "format onnx 13\ninput X int8[1,B,1,1]\nnode MaxPool p: X -> x kernel_shape=[1,1]\n"
     "node Transpose m: x -> y perm=[0,2,3,1]\nnode MaxPool n: y -> Y kernel_shape=[1,1]\noutput Y\n",
     .tensor = "y", .alias = ALIAS_VIEW},
    {"F4: element by element it is one buffer",
     "format onnx 13\ninput X int8[1,B,C,D]\nconst s int8[B,1,1] = ramp B\nnode Mul n: X s -> Y\noutput Y\n",
     .tensor = "Y", .alias = ALIAS_IN_PLACE, .peak_bytes = {112, 64}},
    {"F5: an input that is dead serves again",
     "input A int8[64]\nvalue t int8[64]\nvalue u int8[64]\nnode Custom m: A -> t\nnode Relu n: t -> u\noutput u\n",
     .tensor = "u", .alias = ALIAS_IN_PLACE, .peak_bytes = {128, 128}},
    {"F6: an output is no other name of an input",
     "format onnx 13\ninput X int8[A,B]\nconst k int64[1] = -1\nnode Reshape n: X k -> Y\noutput Y\n", .tensor = "Y",
     .refusal = REFUSED_GRAPH_OUTPUT, .peak_bytes = {32, 32}},
    {"F6: nor through two views",
     "format onnx 13\ninput X int8[A,B]\nconst k int64[1] = -1\nconst l int64[2] = 1 -1\nnode Reshape m: X k -> y\n"
     "node Reshape n: y l -> Y\noutput Y\n",
     .tensor = "Y", .refusal = REFUSED_GRAPH_OUTPUT, .peak_bytes = {32, 32}},
    {"H3: a slice at a multiple of 16 is a view", SLICE("[1,4,2,8]", "[1,2,2,8]"), .tensor = "v", .alias = ALIAS_SPLIT,
     .peak_bytes = {64, 64}},
    {"H3: at 4 it is a copy", SLICE("[1,4,2,2]", "[1,2,2,2]"), .tensor = "v", .refusal = REFUSED_LAYOUT,
     .peak_bytes = {32, 32}},
    {"H3: at 1 it is a copy", SLICE("[1,4,1,1]", "[1,2,1,1]"), .tensor = "v", .refusal = REFUSED_LAYOUT,
     .peak_bytes = {32, 32}},
    {"H3: 4 is a multiple of 4", SLICE("[1,4,2,2]", "[1,2,2,2]"), .tensor = "v", .alias = ALIAS_SPLIT,
     .peak_bytes = {16, 16}, .device = "gap8"},
    {"H3: and 1 is none", SLICE("[1,4,1,1]", "[1,2,1,1]"), .tensor = "v", .refusal = REFUSED_LAYOUT, .device = "gap8"},
    {"H3: parts of a concat begin at a multiple of 16", CONCAT("[1,4,2,8]", "[1,2,2,8]"), .node = "a", .tensor = "p",
     .alias = ALIAS_CONCAT, .refusal = REFUSED_OPERATOR},
    {"H3: or are copied", CONCAT("[1,4,1,3]", "[1,2,1,3]"), .node = "a", .tensor = "p", .refusal = REFUSED_OPERATOR},
};

static void check_starts(const Plan *plan) {
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *buffer = &plan->buffers[i];
        assert_int_equal(buffer->offset % buffer_start_bytes(plan, buffer), 0);
    }
}

static void check_sharing(const Sharing *row, Extents extents) {
    Planned planned;
    const Case c = {.text = row->text,
                    .device = row->device == NULL ? "mcu-cm" : row->device,
                    .extents = extents,
                    .options = {.in_place = true}};
    case_must_plan(&planned, &c);
    const Buffer *buffer = case_buffer_at(&planned, row->node == NULL ? "n" : row->node, row->tensor);
    uint64_t peak = planned.plan->peak_live_bytes;
    if (buffer->alias_reason != row->alias || buffer->refused_alias != row->refusal ||
        (row->peak_bytes[extents] != 0 && peak != row->peak_bytes[extents])) {
        fail_msg("%s, %s: alias %s, refused %s, peak %llu", row->what, extents == ALL_EQUAL ? "equal" : "different",
                 alias_reason_name(buffer->alias_reason), alias_refusal_name(buffer->refused_alias),
                 (unsigned long long)peak);
    }
    if (row->refused_by != NULL) {
        assert_true(str_eq(graph_node(planned.plan->graph, buffer->refused_by)->name, str_from(row->refused_by)));
    }
    check_starts(planned.plan);
    planned_free(&planned);
}

static void test_sharings(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof sharings / sizeof sharings[0]; i++) {
        check_sharing(&sharings[i], ALL_DIFFERENT);
        check_sharing(&sharings[i], ALL_EQUAL);
    }
}

/* A copy is a step of its own; a view makes none. */
static uint32_t count_copies(const Plan *plan) {
    uint32_t count = 0;
    for (uint32_t s = 0; s < plan->step_count; s++) {
        count += plan->steps[s].column == COLUMN_COPY;
    }
    return count;
}

static void test_copies_are_steps(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t copies;
    } rows[] = {
        {SLICE("[1,4,2,8]", "[1,2,2,8]"), 0},
        {SLICE("[1,4,2,2]", "[1,2,2,2]"), 1},
        {"format onnx 13\ninput X int8[2,48]\nconst k int64[2] = 4 24\nnode Reshape n: X k -> Y\noutput Y\n", 1},
        {"format onnx 13\ninput X int8[2,48]\nconst k int64[2] = 4 24\nnode Sigmoid m: X -> t\nnode Reshape n: t k -> "
         "Y\noutput Y\n",
         0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        Planned planned;
        case_must_plan(&planned, &(Case){.text = rows[i].text, .device = "mcu-cm", .options = {.in_place = true}});
        assert_int_equal(count_copies(planned.plan), rows[i].copies);
        planned_free(&planned);
    }
}

/* F5: three maps of 64 of which two live at once; with the input pinned all three. */
static void test_pinned_input(void **state) {
    (void)state;
    for (int pinned = 0; pinned < 2; pinned++) {
        Planned planned;
        const Case c = {.text = "input A int8[64]\nvalue t int8[64]\nvalue u int8[64]\nvalue Y int8[64]\n"
                                "node Custom op0: A -> t\nnode Custom op1: t -> u\nnode Custom op2: u -> Y\noutput Y\n",
                        .device = "mcu-cm",
                        .options = {.in_place = true, .pin_inputs = pinned != 0}};
        case_must_plan(&planned, &c);
        assert_int_equal(planned.plan->placed_bytes, pinned ? 192 : 128);
        planned_free(&planned);
    }
}

/* ---- L: constants with several readers */

typedef struct {
    const char *what;
    const char *text;
    uint64_t constant_bytes;
    const char *node, *tensor;
    const char *stored;
} Constant;

static const Constant constants[] = {
    {"L1: one list of zeros is one number to an addition and a bias to a convolution",
     "format onnx 13\ninput X float32[1,B,3,3]\ninput V float32[A,B]\nconst z float32[B] = splat 0\n"
     "const w float32[B,B,1,1] = unknown\nnode Add a: V z -> q\nnode Conv n: X w z -> Y\noutput Y\noutput q\n",
     0, "n", "z", "[B]"},
    {"L1: in either order",
     "format onnx 13\ninput X float32[1,B,3,3]\ninput V float32[A,B]\nconst z float32[B] = splat 0\n"
     "const w float32[B,B,1,1] = unknown\nnode Conv c: X w z -> Y\nnode Add n: V z -> q\noutput Y\noutput q\n",
     0, "n", "z", "[1]"},
    {"L3: two readers of one form",
     "format onnx 13\ninput X float32[A,5]\nconst s float32[5] = 1 2 3 4 5\nnode Mul m: X s -> t\n"
     "node Add n: t s -> Y\noutput Y\n",
     20, "n", "s", "[5]"},
    {"L3: what is only transposed is stored once",
     "format onnx 13\ninput X float32[A,5]\nconst W float32[3,5] = unknown\nnode Transpose t: W -> e\n"
     "node MatMul n: X e -> Y\noutput Y\n",
     60, "n", "e", "[5,3]"},
    {"L3: what is also read as it is, twice",
     "format onnx 13\ninput X float32[A,5]\ninput V float32[3,5]\nconst W float32[3,5] = unknown\n"
     "node Transpose t: W -> e\nnode MatMul m: X e -> Y\nnode Add n: V W -> q\noutput Y\noutput q\n",
     120, "n", "W", "[3,5]"},
    {"L6: a chain of coders over a constant is one",
     "format onnx 13\ninput X float32[A,4]\nconst c int8[4] = 1 2 3 4\nconst s float32[] = 0.5\nconst z int8[] = 0\n"
     "node DequantizeLinear d: c s z -> f\nnode QuantizeLinear q: f s z -> g\nnode DequantizeLinear e: g s z -> h\n"
     "node Mul n: X h -> Y\noutput Y\n",
     16, "n", "h", "[4]"},
};

static void check_constant(const Constant *row, const char *device, Extents extents) {
    Planned planned;
    case_must_plan(&planned, &(Case){.text = row->text, .device = device, .extents = extents});
    Shape stored = case_shape(row->stored, extents);
    const Buffer *buffer = case_buffer_at(&planned, row->node, row->tensor);
    uint64_t b = (uint64_t)case_extent('B', extents);
    uint64_t bytes = row->constant_bytes == 0 ? 4 + 4 * b + 4 * b * b : row->constant_bytes; /* L1: and the weights */
    if (!shape_eq(&buffer->stored, &stored) || case_constant_bytes(planned.plan) != bytes) {
        fail_msg("%s: %s stored, %llu bytes", row->what, shape_text(&planned.work.keep, &buffer->stored).ptr,
                 (unsigned long long)case_constant_bytes(planned.plan));
    }
    planned_free(&planned);
}

static void test_constants(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++) {
        for (Extents extents = ALL_DIFFERENT; extents < EXTENTS_COUNT; extents++) {
            check_constant(&constants[i], "mcu-cm", extents);
            check_constant(&constants[i], "teach", extents);
        }
    }
}

/* L6: nothing of the chain is asked from the caller. */
static void test_inputs_are_the_real_ones(void **state) {
    (void)state;
    Planned planned;
    case_must_plan(&planned, &(Case){.text = constants[5].text, .device = "mcu-cm"});
    uint32_t inputs = 0;
    for (uint32_t i = 0; i < planned.plan->buffer_count; i++) {
        inputs += planned.plan->buffers[i].kind == BUFFER_INPUT;
    }
    assert_int_equal(inputs, 1);
    assert_int_equal(planned.plan->folded_nodes, 3);
    planned_free(&planned);
}

/* ---- L2: names */

/* `?` stands for a tensor that is called as the copy of another is, or in a way of its own. */
typedef struct {
    const char *what;
    const char *text;
    const char *clash;
    uint64_t peak_bytes, constant_bytes; /* on mcu-cm */
} Clash;

static const Clash clashes[] = {
    {"a second call makes r@2, which is alive beside the file's: 64 of each and 64 that are read or written",
     "format tflite\ninput X int8[64]\nvalue ? int8[64]\nvalue Y int8[64]\nnode Custom c: X -> ?\n"
     "node CALL f: X -> y s=block(1)\nnode CALL g: y -> z s=block(1)\nnode Custom e: ? z -> Y\noutput Y\n"
     "block 1 g\ninput p int8[64]\nvalue r int8[64]\nnode Custom t: p -> r\noutput r\nend\n",
     "\"r@2\"", 192, 0},
    {"b is one number to a and five to n, beside a constant of its name with a number: 4 + 20 + 20 + 100",
     "format onnx 13\ninput X float32[1,5,3,3]\ninput V float32[1,5]\nconst b float32[5] = splat 1\n"
     "const ? float32[5] = 1 2 3 4 5\nconst w float32[5,5,1,1] = unknown\nnode Add a: V b -> q\nnode Add h: q ? -> g\n"
     "node Conv n: X w b -> Y\noutput Y\noutput g\n",
     "b0", 192 + 192 + 32, 144},
};

static const char *with_name(Arena *keep, const char *text, const char *name) {
    Str all = {0};
    for (const char *c = text; *c != '\0'; c++) {
        bool is_name = *c == '?';
        all = arena_format(keep, STR_FMT "%.*s", STR_ARG(all), is_name ? (int)strlen(name) : 1, is_name ? name : c);
    }
    return all.ptr;
}

/* All that a plan says of a buffer, but its name. */
static void check_same_buffer(const Clash *row, const Buffer *a, const Buffer *b) {
    if (a->offset != b->offset || a->physical_bytes != b->physical_bytes || a->first != b->first ||
        a->last != b->last || a->alias_of.index != b->alias_of.index || a->value.index != b->value.index) {
        fail_msg("%s: another plan", row->what);
    }
}

static void test_names_that_clash(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof clashes / sizeof *clashes; i++) {
        const Clash *row = &clashes[i];
        Work texts;
        Planned alone, clashing;
        WORK_BEGIN(&texts);
        Case c = {
            .text = with_name(&texts.keep, row->text, "unlike"), .device = "mcu-cm", .options = {.in_place = true}};
        case_must_plan(&alone, &c);
        c.text = with_name(&texts.keep, row->text, row->clash);
        case_must_plan(&clashing, &c);
        assert_int_equal(clashing.plan->peak_live_bytes, row->peak_bytes);
        assert_int_equal(case_constant_bytes(clashing.plan), row->constant_bytes);
        assert_int_equal(clashing.plan->buffer_count, alone.plan->buffer_count);
        for (uint32_t k = 0; k < alone.plan->buffer_count; k++) {
            check_same_buffer(row, &alone.plan->buffers[k], &clashing.plan->buffers[k]);
        }
        planned_free(&alone);
        planned_free(&clashing);
        work_free(&texts);
    }
}

/* Where a part lies is found by going through those before it: a file of very many outputs must not cost their square.
 */
static void test_split_of_very_many(void **state) {
    (void)state;
    Work texts;
    Planned planned;
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    fprintf(out, "format onnx 13\ninput X int8[%d,16]\nnode Split n: X ->", BOX_MOST_PARTS + 8);
    for (int k = 0; k < BOX_MOST_PARTS + 8; k++) {
        fprintf(out, " t%d", k);
    }
    fputs(" axis=0\noutput t0\n", out);
    fclose(out);
    WORK_BEGIN(&texts);
    case_must_plan(
        &planned,
        &(Case){.text = arena_text(&texts.keep, "%s", text), .device = "mcu-cm", .options = {.in_place = true}});
    free(text);
    for (int k = 1; k < BOX_MOST_PARTS + 8; k++) {
        const Buffer *part = planned_buffer(&planned, arena_text(&texts.keep, "t%d", k));
        assert_int_equal(part->alias_reason, k < BOX_MOST_PARTS ? ALIAS_SPLIT : ALIAS_NONE);
    }
    planned_free(&planned);
    work_free(&texts);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split_of_very_many), cmocka_unit_test(test_sharings),
        cmocka_unit_test(test_copies_are_steps),   cmocka_unit_test(test_pinned_input),
        cmocka_unit_test(test_constants),          cmocka_unit_test(test_inputs_are_the_real_ones),
        cmocka_unit_test(test_names_that_clash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
