/* The ledger for people. Proves, from one step to 3000 and for hostile names: no line is wider than asked, two runs
 * give the same bytes, no control character of a name gets through, colours come only when asked for; that the answer
 * comes first, and a misfit tells what only waits; and that a network without steps is printed too. */
#include "plan/planned.h"

#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>

/* Prints a report; free it. */
static char *print(const Facts *facts, TerminalStyle style, Arena *scratch) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    report_terminal(facts, style, scratch, out);
    fclose(out);
    return text;
}

static char *print_case(const PlanCase *test, TerminalStyle style) {
    Planned planned;
    assert_true(planned_make(&planned, test));
    const Facts *facts = facts_gather("a\033[31m file", planned.plan, NULL, false, &planned.work);
    char *text = print(facts, style, &planned.work.scratch);
    char *again = print(facts, style, &planned.work.scratch);
    assert_string_equal(text, again);
    free(again);
    planned_free(&planned);
    return text;
}

static char *print_plan(const char *graph, const char *device, TerminalStyle style) {
    const PlanCase test = {graph, device, NULL, {.in_place = true}};
    return print_case(&test, style);
}

static char *print_sweeps(const char *graph, TerminalStyle style) {
    const PlanCase test = {graph, "teach", NULL, {.in_place = true}};
    return print_case(&test, style);
}

/* Characters of the longest line; a colour has none. */
static size_t widest_line(const char *text) {
    size_t widest = 0;
    size_t width = 0;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\n') {
            widest = width > widest ? width : widest;
            width = 0;
        } else {
            width += ((unsigned char)*c & 0xC0) != 0x80;
        }
    }
    return widest;
}

/* A chain of operators of unknown kind that also read the fourth value before; the last step is the
 * peak and reads the input again, which is large. */
static char *write_chain(uint32_t nodes, const char *name) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fprintf(out, "stride0-graph 1\ninput \"%s0\" int8[1000]\nvalue \"%send\" int8[2000]\n", name, name);
    for (uint32_t n = 1; n <= nodes; n++) {
        fprintf(out, "value \"%s%u\" int8[%u]\n", name, n, 100 + n % 7 * 50);
        fprintf(out, "node Custom \"%snode%u\": \"%s%u\" \"%s%u\" -> \"%s%u\"\n", name, n, name, n - 1, name,
                (n - 1) / 4 * 4, name, n);
    }
    fprintf(out, "node Custom \"%send\": \"%s%u\" \"%s0\" -> \"%send\"\noutput \"%send\"\n", name, name, nodes, name,
            name, name);
    fclose(out);
    return text;
}

static void test_widths(void **state) {
    (void)state;
    static const uint32_t nodes[] = {1, 2, 26, 27, 83, 84, 85, 169, 3000};
    static const uint32_t columns[] = {80, 100, 132};
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
            char *graph = write_chain(nodes[i], "v");
            char *text = print_plan(graph, "mcu-cm", (TerminalStyle){.columns = columns[k]});
            if (widest_line(text) > columns[k]) {
                fail_msg("%u nodes, %u columns: a line of %zu in\n%s", nodes[i], columns[k], widest_line(text), text);
            }
            free(text);
            free(graph);
        }
    }
}

/* A run of per-channel operators on a device that loads and stores, with `name` before each. */
static char *write_sweep(const char *name) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fprintf(out, "stride0-graph 1\nformat tflite\ninput \"%sX\" float32[1,40,28,3]\n", name);
    fprintf(out, "const \"%ss\" float32[3] = 1 2 3\nconst \"%sb\" float32[3] = 3 2 1\n", name, name);
    fprintf(out, "value \"%st\" float32[1,40,28,3]\nvalue \"%sY\" float32[1,40,28,3]\n", name, name);
    fprintf(out, "node Mul \"%sm\": \"%sX\" \"%ss\" -> \"%st\"\n", name, name, name, name);
    fprintf(out, "node Add \"%sa\": \"%st\" \"%sb\" -> \"%sY\"\noutput \"%sY\"\n", name, name, name, name, name);
    fclose(out);
    return text;
}

/* The table of columns and what lost keep to the width, whatever the names. */
static void test_sweep_widths(void **state) {
    (void)state;
    static const uint32_t columns[] = {80, 100, 132, 200};
    static const char *const names[] = {
        "", "a_very_long_name_of_a_layer_that_has_no_blank_to_break_it_at_and_is_longer_than_a_whole_line/"};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
            char *graph = write_sweep(names[k]);
            char *text = print_sweeps(graph, (TerminalStyle){.columns = columns[i]});
            assert_non_null(strstr(text, "\nsweep of "));
            assert_non_null(strstr(text, "live bytes  alive\n"));
            if (widest_line(text) > columns[i]) {
                fail_msg("%u columns: a line of %zu in\n%s", columns[i], widest_line(text), text);
            }
            free(text);
            free(graph);
        }
    }
}

static void test_hostile_names(void **state) {
    (void)state;
    char *graph = write_chain(
        40,
        "\\x1b[2J\\n\\x9b\\xc2\\x9b31m "
        "a_very_long_name_of_a_layer_that_has_no_blank_to_break_it_at_and_is_longer_than_a_whole_line_of_the_page/");
    char *text = print_plan(graph, "mcu-cm", (TerminalStyle){.columns = 100});
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        assert_true(*c == '\n' || (*c >= 0x20 && *c < 0x7F));
    }
    assert_true(widest_line(text) <= 100);
    free(text);
    free(graph);
}

static void test_colors(void **state) {
    (void)state;
    char *graph = write_chain(3, "v");
    char *plain = print_plan(graph, "mcu-cm", (TerminalStyle){.columns = 100});
    char *colored = print_plan(graph, "mcu-cm", (TerminalStyle){.has_color = true, .columns = 100});
    assert_null(strchr(plain, '\033'));
    assert_non_null(strchr(colored, '\033'));
    size_t kept = 0; /* without its colours it is the plain one */
    for (const char *c = colored; *c != '\0'; c++) {
        if (*c == '\033') {
            c = strchr(c, 'm');
        } else {
            colored[kept++] = *c;
        }
    }
    colored[kept] = '\0';
    assert_string_equal(plain, colored);
    free(plain);
    free(colored);
    free(graph);
}

/* The answer stands in the second line: 64 + 64 bytes of 262144, of a budget of 100. */
static void test_verdict(void **state) {
    (void)state;
    static const struct {
        uint64_t budget_bytes;
        const char *line;
    } cases[] = {{0, "\n  fits: local memory needs 128 of 262,144 bytes, 262,016 free\n"},
                 {128, "\n  fits: local memory needs 128 of the --budget of 128 bytes, 0 free\n"},
                 {100, "\n  does not fit: local memory needs 128 of the --budget of 100 bytes, 28 too many\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Planned planned;
        PlanCase test = {"stride0-graph 1\ninput A int8[64]\nvalue Y int8[64]\nnode Custom a: A -> Y\noutput Y\n",
                         "mcu-cm",
                         NULL,
                         {.in_place = true, .budget_bytes = cases[i].budget_bytes}};
        assert_true(planned_make(&planned, &test));
        const Facts *facts = facts_gather("net", planned.plan, NULL, false, &planned.work);
        char *text = print(facts, (TerminalStyle){.columns = 100}, &planned.work.scratch);
        assert_int_equal(strncmp(text + strcspn(text, "\n"), cases[i].line, strlen(cases[i].line)), 0);
        free(text);
        planned_free(&planned);
    }
}

/* X and t are what the node at the peak works on; k, 5000 bytes, waits for the last one. */
static void test_misfit_tells_who_waits(void **state) {
    (void)state;
    Planned planned;
    PlanCase test = {
        "stride0-graph 1\ninput k int8[5000]\ninput X int8[320]\nvalue t int8[640]\nvalue u int8[16]\n"
        "value Y int8[16]\nnode Custom a: X -> t\nnode Custom b: t -> u\nnode Custom c: u k -> Y\noutput Y\n",
        "mcu-cm",
        NULL,
        {.in_place = true, .budget_bytes = 4096}};
    assert_true(planned_make(&planned, &test));
    const Facts *facts = facts_gather("net", planned.plan, NULL, false, &planned.work);
    assert_int_equal(facts->misfit.own_bytes, 320 + 640);
    assert_int_equal(facts->misfit.waiting_bytes, 5008); /* a multiple of 16 */
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    report_misfit(facts, "", &planned.work.scratch, out);
    fclose(out);
    assert_non_null(strstr(text, "960 bytes of them are what the operator itself reads and writes; "
                                 "no option of stride0 lowers"));
    assert_non_null(
        strstr(text, "5,008 bytes wait for other steps:\n    5,008  k  until step 2: 'c' (Custom), compute\n"));
    free(text);
    planned_free(&planned);
}

static void test_no_steps(void **state) {
    (void)state;
    char *text = print_plan("stride0-graph 1\ninput X int8[64]\noutput X\n", "mcu-cm", (TerminalStyle){.columns = 100});
    assert_non_null(strstr(text, "peak: 64 bytes; the model has no step"));
    free(text);
    text = print_plan("stride0-graph 1\ninput X int8[0]\noutput X\n", "mcu-cm", (TerminalStyle){.columns = 100});
    assert_non_null(strstr(text, "peak: 0 bytes"));
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_sweep_widths),
        cmocka_unit_test(test_hostile_names),
        cmocka_unit_test(test_colors),
        cmocka_unit_test(test_no_steps),
        cmocka_unit_test(test_verdict),
        cmocka_unit_test(test_misfit_tells_who_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
