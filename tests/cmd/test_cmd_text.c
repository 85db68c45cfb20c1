/* Proves that the text form loses nothing, floats and names of any bytes included, that the example of the manual is
 * what is printed, and that each thing a text can do wrong is told with its line and column. */
#include "cmd/text.h"
#include "cmd/text_float.h"

#include "cmd/programs.h"
#include "support/work.h"

/* ---- Floats */

static void float_comes_back(uint32_t bits) {
    char text[CMD_FLOAT_TEXT];
    uint32_t again = ~bits;
    float number, read;
    cmd_float_print(bits, text);
    assert_true(strlen(text) + 1 <= CMD_FLOAT_TEXT);
    if (!cmd_float_parse(str_from(text), &again) || again != bits) {
        fail_msg("%08x is %s, which is %08x", bits, text, again);
    }
    memcpy(&number, &bits, sizeof number);
    if (number == number) { /* the C library reads the same number */
        read = strtof(text, NULL);
        assert_memory_equal(&read, &bits, sizeof read);
    }
}

static void floats_come_back(Work *work) {
    (void)work;
    uint64_t seed = 5;
    for (uint32_t exponent = 0; exponent < 512; exponent++) {
        const uint32_t fractions[] = {0, 1, 2, 3, 0x400000, 0x7FFFFF, 0x100000};
        for (size_t k = 0; k < sizeof fractions / sizeof fractions[0]; k++) {
            float_comes_back(exponent << 23 | fractions[k]);
        }
    }
    for (int k = 0; k < 100000; k++) {
        float_comes_back((uint32_t)random_next(&seed));
    }
}

static void other_floats_are_refused(Work *work) {
    static const char *const bad[] = {"",
                                      "-",
                                      "1",
                                      "0x",
                                      "0x1",
                                      "0x1p",
                                      "0x2p+0",
                                      "0x1p+128",
                                      "0x1p-127",
                                      "0x0p-126",
                                      "0x0.8p+0",
                                      "0x1.p+0",
                                      "0x1.8000001p+0",
                                      "0x1.000001p+0",
                                      "0x0.000001p-126",
                                      "0x1p++1",
                                      "0x1p+0 ",
                                      "0x1p+0x",
                                      "inf ",
                                      "-nan:7fc00000",
                                      "nan",
                                      "nan:7fc0000",
                                      "nan:7fc000000",
                                      "nan:7f800000",
                                      "nan:00000000",
                                      "nan:7FC00000",
                                      "--0",
                                      "0x1.gp+0",
                                      "0x1p+99999999999999999999"};
    uint32_t bits;
    (void)work;
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        if (cmd_float_parse(str_from(bad[k]), &bits)) {
            fail_msg("'%s' is read as %08x", bad[k], bits);
        }
    }
    assert_true(cmd_float_parse(STR("0x1.80p+1"), &bits) && bits == 0x40400000);
    assert_true(cmd_float_parse(STR("0x1p1"), &bits) && bits == 0x40000000);
    assert_false(cmd_float_parse((Str){"0x1p+0\0", 7}, &bits));
}

/* ---- Round trips */

static char *printed(const CmdProgram *program) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    cmd_print(program, out);
    fclose(out);
    assert_int_equal(strlen(text), length);
    return text;
}

static const CmdProgram *parsed(Work *work, const char *text) {
    const CmdProgram *program = cmd_parse(str_from(text), "test", work);
    if (program == NULL) {
        char *told = messages_of(work);
        fail_msg("%s%s", text, told);
        free(told);
    }
    return program;
}

static void comes_back(Work *work, const CmdProgram *program) {
    char *text = printed(program);
    const CmdProgram *again = parsed(work, text);
    if (!same_program(program, again)) {
        fail_msg("%s", text);
    }
    char *second = printed(again);
    assert_string_equal(text, second);
    free(text);
    free(second);
}

static void programs_come_back(Work *work) {
    SmallProgram small;
    small_program(&small);
    comes_back(work, &small.program);
    comes_back(work, tile_program(&work->scratch, &small, 50));
    for (uint64_t seed = 0; seed < 3000; seed++) {
        comes_back(work, random_program(&work->scratch, seed));
        arena_reset(&work->keep);
        arena_reset(&work->scratch);
    }
}

static void names_of_all_bytes_come_back(Work *work) {
    SmallProgram small;
    char bytes[256];
    small_program(&small);
    for (size_t k = 0; k < sizeof bytes; k++) {
        bytes[k] = (char)(unsigned char)k;
    }
    small.node[0] = small.program.device = small.buffer[3].name = (Str){bytes, sizeof bytes};
    char *text = printed(&small.program);
    for (const char *at = text; *at != '\0'; at++) {
        assert_true(*at == '\n' || (*at >= ' ' && *at <= '~'));
    }
    free(text);
    comes_back(work, &small.program);
}

/* ---- The manual's example */

static char *read_file(const char *path) {
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    char *text = calloc(1, 1 << 16);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 16) - 1, in) > 0);
    fclose(in);
    return text;
}

static void manual_shows_what_is_printed(Work *work) {
    SmallProgram small;
    small_program(&small);
    char *manual = read_file(S0_SOURCE_DIR "/docs/commands.md");
    char *example = strstr(manual, "```\nstride0-commands 2\n");
    assert_non_null(example);
    example += 4;
    char *end = strstr(example, "```\n");
    assert_non_null(end);
    *end = '\0';
    char *text = printed(&small.program);
    assert_string_equal(example, text);
    assert_true(same_program(&small.program, parsed(work, example)));
    free(text);
    free(manual);
}

/* ---- Texts as people write them */

static void loose_texts_are_taken(Work *work) {
    const CmdProgram *program =
        parsed(work, "stride0-commands 2 ; a comment\r\n"
                     "\n"
                     "   ; another\n"
                     "queues 0x2\r\n"
                     "@0 engine FILL fill b0.v0+0=7 node 0\n" /* before what it names */
                     "\tview v0\n"
                     "buffer b0 workspace int4 \"a;b\" memory 0 at 0 bytes 0x10 data 0 touched 1\n"
                     "node 0 \"\"");
    assert_int_equal(program->queue_count, 2);
    assert_int_equal(program->commands[0].code, 7);
    assert_int_equal(program->buffers[0].bytes, 16);
    assert_true(str_eq(program->buffers[0].name, STR("a;b")));
}

/* ---- Texts that are wrong */

typedef struct {
    const char *text;
    const char *told[3]; /* place, what, and what was got */
} Bad;

#define HEAD   "stride0-commands 2\n"
#define COMMON HEAD "queues 2\nnode 0 \"n\"\nview v0 c*8\n" /* four lines, then: */
#define BUFFER COMMON "buffer b0 workspace int8 \"x\" memory 0 at 0 bytes 1 data 0 touched 1\n"
#define REST   " memory 0 at 0 bytes 1 data 0 touched 1"
#define MUL    BUFFER "@0 engine MUL multiply b0.v0+0 <- b0.v0+0 node 0 as onnx"

#define CONV   BUFFER "@0 engine CONV compute b0.v0+0 <- b0.v0+0 "
#define WINDOW CONV "* b0.v0+0 node 0 window "

static const Bad bad[] = {
    /* heads */
    {"", {"line 1 column 1:", "no program of commands", "the end of the line"}},
    {"stride0-graph 1\n", {"line 1 column 1:", "no program of commands", "stride0-graph"}},
    {"stride0-commands 3\n", {"line 1 column 18:", "another version", "3"}},
    {"stride0-commands 2 2\n", {"line 1 column 20:", "does not end here", "2"}},
    {HEAD, {"test:", "the number of queues is 0", ""}},
    {HEAD "quues 1\n", {"line 2 column 1:", "no statement", "quues"}},
    {HEAD "queues\n", {"line 2 column 7:", "no number", "the end of the line"}},
    {HEAD "queues 4294967296\n", {"line 2 column 8:", "no number", "4294967296"}},
    {HEAD "cycles 18446744073709551616\n", {"line 2 column 8:", "no number", ""}},
    {HEAD "cycles 0x10000000000000000\n", {"line 2 column 8:", "no number", ""}},
    {HEAD "cycles -1\n", {"line 2 column 8:", "no number", "-1"}},
    {HEAD "cycles 0xg\n", {"line 2 column 8:", "no number", "0xg"}},
    /* names */
    {HEAD "device x\n", {"line 2 column 8:", "something else", "x"}},
    {HEAD "device \"x\n", {"line 2 column 10:", "does not end on its line", "the end"}},
    {HEAD "device \"x\\\"\n", {"line 2 column 12:", "does not end on its line", "the end"}},
    {HEAD "device \"x\\\n", {"line 2 column 11:", "no such escape", "the end"}},
    {HEAD "device \"\\n\"\n", {"line 2 column 10:", "no such escape", "n"}},
    {HEAD "device \"\\x1\"\n", {"line 2 column 11:", "no byte", "1"}},
    {HEAD "device \"\\x1G\"\n", {"line 2 column 11:", "no byte", "1G"}},
    /* rows */
    {HEAD "node 1 \"\"\n", {"line 2 column 6:", "numbered in order", "1"}},
    {HEAD "view v1\n", {"line 2 column 7:", "numbered in order", "1"}},
    {HEAD "view 0\n", {"line 2 column 6:", "something else", "0"}},
    {COMMON "view v0\n", {"line 5 column 7:", "numbered in order", "0"}},
    {BUFFER "buffer b0\n", {"line 6 column 9:", "numbered in order", "0"}},
    {BUFFER "@1\n", {"line 6 column 2:", "numbered in order", "1"}},
    /* views */
    {HEAD "view v0 x\n", {"line 2 column 9:", "no axis", "x"}},
    {HEAD "view v0 c/\n", {"line 2 column 11:", "no number", "the end"}},
    {HEAD "view v0 c*8*8\n", {"line 2 column 12:", "no axis", "*8"}},
    {HEAD "view v0 c c c c c c c c c c c c c c c c c c c c c c c c c\n", {"line 2 column 57:", "too many levels", "c"}},
    {HEAD "queues 1\nview v0 c/0\n", {"test:", "view 0: the div of a level is 0", ""}},
    /* buffers */
    {COMMON "buffer b0 scratch\n", {"line 5 column 11:", "no kind of buffer", "scratch"}},
    {COMMON "buffer b0 input int9\n", {"line 5 column 17:", "no type of elements", "int9"}},
    {COMMON "buffer b0 input string\n", {"line 5 column 17:", "no type of elements", "string"}},
    {COMMON "buffer b0 input int8 \"\" at 1\n", {"line 5 column 25:", "something else", "at"}},
    {COMMON "buffer b0 input int8 \"\"" REST " x\n", {"line 5 column 64:", "does not end here", "x"}},
    {COMMON "buffer b0 input int8 \"\"" REST " view v0+0\n", {"line 5 column 73:", "something else", "the end"}},
    {COMMON "buffer b0 input int8 \"\"" REST " view v0 order\n", {"line 5 column 71:", "something else", "order"}},
    {COMMON "buffer b0 parameter int8 \"\"" REST " view v0+0 order c2 constant 0g\n",
     {"line 5 column 96:", "no byte", "0g"}},
    {COMMON "buffer b0 parameter int8 \"\"" REST " view v0+0 order c2 constant 000\n",
     {"line 5 column 98:", "does not end here", "0"}},
    {COMMON "buffer b0 parameter int8 \"\"" REST " view v0+0 order c2 constant 00\n",
     {"test:", "buffer 0: a constant has 1 bytes, its order makes 2", ""}},
    {COMMON "buffer b0 input int8 \"\"" REST " view v0+0 order c1 c1 c1 c1 c1 c1 c1 c1 c1 c1 c1 c1 c1 c1 c1 c1 c1\n",
     {"line 5 column 128:", "too many dimensions", "c1"}},
    /* commands */
    {BUFFER "@0 cpu\n", {"line 6 column 4:", "no queue", "cpu"}},
    {BUFFER "@0 dma9\n", {"line 6 column 7:", "no number", "9"}},
    {BUFFER "@0 dma0 LOAD load_input b0.v0+0 <- b0.v0+0 node 0\n",
     {"test:", "command 0: the engine moves nothing", ""}},
    {BUFFER "@0 engine CONF\n", {"line 6 column 11:", "no operation", "CONF"}},
    {BUFFER "@0 engine COPY x\n", {"line 6 column 16:", "no column", "x"}},
    {BUFFER "@0 engine COPY copy c2 c3\n", {"line 6 column 24:", "an axis stands twice", "c3"}},
    {BUFFER "@0 engine COPY copy c2 x3\n", {"line 6 column 24:", "something else", "x3"}},
    {BUFFER "@0 engine COPY copy b0\n", {"line 6 column 23:", "something else", "the end"}},
    {BUFFER "@0 engine COPY copy b0.v0\n", {"line 6 column 26:", "something else", "the end"}},
    {BUFFER "@0 engine COPY copy b0.v0+0 = 1\n", {"line 6 column 29:", "something else", "="}},
    {BUFFER "@0 engine FILL fill b0.v0+0 <- b0.v0+0\n", {"line 6 column 29:", "something else", "<-"}},
    {BUFFER "@0 engine COPY copy b0.v0+0 <- b0.v0+0\n", {"line 6 column 39:", "something else", "the end"}},
    {BUFFER "@0 engine COPY copy b0.v0+0 <- b0.v0+0 wait node 0\n", {"line 6 column 45:", "no number", "node"}},
    {BUFFER "@0 engine COPY copy b0.v0+0 <- b0.v0+0 wait 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
     {"line 6 column 77:", "too many waits", "0"}},
    {BUFFER "@0 engine COPY copy b0.v0+0 <- b0.v0+0 wait 0 node 0\n",
     {"test:", "command 0: it waits for command 0", ""}},
    {BUFFER "@0 engine COPY copy b0.v0+0 <- b0.v0+0 node 0 as onnx\n",
     {"line 6 column 47:", "does not end here", "as"}},
    {MUL, {"test:", "command 0: MUL has 0 stages", ""}},
    {BUFFER "@0 engine MUL multiply b0.v0+0 <- b0.v0+0 node 0 as tf\n", {"line 6 column 53:", "no semantics", "tf"}},
    {MUL " carry x\n", {"line 6 column 64:", "no carry", "x"}},
    {MUL " carry workspace | \n", {"line 6 column 74:", "something else", "|"}},
    {MUL " | MULL\n", {"line 6 column 60:", "no kind of stage", "MULL"}},
    {MUL " | MUL int8>int9\n", {"line 6 column 69:", "no type of elements", "int9"}},
    {MUL " | MUL int8\n", {"line 6 column 68:", "something else", "the end"}},
    {MUL " | CLIP float32>float32 lo=0 lo=0\n", {"line 6 column 86:", "stands twice", "lo=0"}},
    {MUL " | CLIP float32>float32 lo=1\n", {"line 6 column 84:", "no float", "1"}},
    {MUL " | CODE_MUL int8>int8 value=2147483648\n", {"line 6 column 85:", "no whole number of 32 bits", "2147483648"}},
    {MUL " | CODE_MUL int8>int8 value=0x1\n", {"line 6 column 85:", "no whole number of 32 bits", "0x1"}},
    {MUL " | CODE_MUL int8>int8 scale=0\n", {"line 6 column 84:", "something else", "=0"}},
    {MUL " | CODE_MUL int8>int8 what\n", {"line 6 column 79:", "no number and no parameter", "what"}},
    {MUL " | CODE_MUL int8>int8 value<-b0\n", {"line 6 column 88:", "something else", "the end"}},
    {MUL " | MUL float32>float32 number<-b0.v0+0(0x1p-2\n", {"line 6 column 102:", "something else", "expected  ,"}},
    {MUL " | MUL float32>float32 number<-b0.v0+0(1,3)\n", {"line 6 column 96:", "no float", "1"}},
    {MUL " | MUL float32>float32 number<-b0.v0+0(0x1p-2,3\n", {"line 6 column 104:", "something else", "expected  )"}},
    {MUL " | NORM float32>float32 mean<-b0.v0+0 mean<-b0.v0+0 mean<-b0.v0+0 mean<-b0.v0+0 mean<-b0.v0+0\n",
     {"line 6 column 137:", "too many parameters", "mean"}},
    {MUL "|ADD int8>int8|ADD int8>int8|ADD int8>int8|ADD int8>int8|ADD int8>int8|ADD int8>int8|ADD int8>int8"
         "|ADD int8>int8|ADD int8>int8|ADD int8>int8|ADD int8>int8|ADD int8>int8|ADD int8>int8|ADD int8>int8"
         "|ADD int8>int8|ADD int8>int8|ADD int8>int8\n",
     {"line 6 column 282:", "too many stages", "ADD"}},
    /* windows */
    {BUFFER "@0 engine PAD compute b0.v0+0 <- b0.v0+0 node 0 window\n", {"line 6 column 42:", "something else", "="}},
    {BUFFER "@0 engine PAD compute b0.v0+0 <- b0.v0+0 = 1 node 0 window as onnx\n",
     {"line 6 column 60:", "the statement does not end here", ""}},
    {CONV "node 0\n", {"line 6 column 43:", "something else", "expected  *"}},
    {CONV "* b0.v0+0 + node 0\n", {"line 6 column 55:", "something else", "node"}},
    {CONV "* b0.v0+0 node 0 as onnx\n", {"line 6 column 60:", "something else", "as"}},
    {WINDOW "h.steps=1\n", {"line 6 column 67:", "no number of a window", "h.steps"}},
    {WINDOW "h.taps 1\n", {"line 6 column 73:", "something else", "expected  ="}},
    {WINDOW "h.taps=-1\n", {"line 6 column 74:", "no number that may stand here", "-1"}},
    {WINDOW "h.before=0x1\n", {"line 6 column 76:", "no whole number of 64 bits", "0x1"}},
    {WINDOW "h.taps=2 h.taps=2\n", {"line 6 column 76:", "stands twice", "h.taps"}},
    {WINDOW "scales 1 as onnx\n", {"line 6 column 74:", "no float", "1"}},
    {WINDOW "\n", {"line 6 column 67:", "something else", "the end"}},
    {WINDOW "scales 0x1p+0\n", {"line 6 column 80:", "something else", "the end"}},
    {WINDOW "as onnx\n", {"test:", "command 0: the scales are not one", ""}},
    {WINDOW "h.stride=9223372036854775808 h.taps=2 scales 0x1p+0 as onnx\n",
     {"test:", "command 0: it has not one stage", ""}},
};

static void wrong_texts_are_told(Work *work) {
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        const CmdProgram *program = cmd_parse(str_from(bad[k].text), "test", work);
        bool told = program == NULL;
        for (size_t part = 0; part < 3; part++) {
            told = told && was_told(work, bad[k].told[part]);
        }
        if (!told) {
            char *all = messages_of(work);
            fail_msg("%zu: %s\nexpected %s %s %s\n%s", k, bad[k].text, bad[k].told[0], bad[k].told[1], bad[k].told[2],
                     program == NULL ? all : "a program");
            free(all);
        }
        work->diags = (Diags){.arena = work->diags.arena};
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WORK_TEST(floats_come_back),
        WORK_TEST(other_floats_are_refused),
        WORK_TEST(programs_come_back),
        WORK_TEST(names_of_all_bytes_come_back),
        WORK_TEST(manual_shows_what_is_printed),
        WORK_TEST(loose_texts_are_taken),
        WORK_TEST(wrong_texts_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
