/* The page as HTML. Proves: escaped text can end neither an element nor an attribute, and keeps what is harmless; a
 * page of hostile names holds none of them as markup, has as many elements as that of a tame network, and is the same
 * twice; a network without steps has a page too; and the page asks for nothing from elsewhere. */
#include "plan/planned.h"

#include "report/html.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Escaping */

static void check_escaped(Str text, const char *expected) {
    char *found = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&found, &size);
    assert_non_null(out);
    html_escape(text, out);
    fclose(out);
    assert_string_equal(found, expected);
    free(found);
}

static void test_escape(void **state) {
    (void)state;
    static const struct {
        Str text;
        const char *expected;
    } cases[] = {
        {{"", 0}, ""},
        {{"conv1/w:0", 9}, "conv1/w:0"},
        {{"<b>&amp;", 8}, "&lt;b&gt;&amp;amp;"},
        {{"\"'", 2}, "&quot;&#39;"},
        {{"]]>", 3}, "]]&gt;"},
        {{"a\0b\n\t\x7F", 6}, "a?b???"},
        {{"\xC3\xA4 \xE6\xBC\xA2 \xF0\x9F\x98\x80", 11}, "\xC3\xA4 \xE6\xBC\xA2 \xF0\x9F\x98\x80"},
        {{"\xFF\xC3x", 3}, "??x"},
        {{"\xC0\xBCscript", 8}, "??script"}, /* an overlong '<' */
        {{"\xED\xA0\x80", 3}, "???"},        /* half a surrogate pair */
        {{"\xE2\x80\xAE"
          "fed",
          6},
         "?fed"},                                                           /* right to left */
        {{"\xC2\x85\xE2\x80\xA8", 5}, "??"},                                /* lines of their own */
        {{"\xEF\xBF\xBD\xEF\xBF\xBE\xEF\xBF\xBF", 9}, "\xEF\xBF\xBD??"},    /* no characters of XML */
        {{"a\xE2\x80\x8B\xE2\x80\x8D\xEF\xBB\xBF\xC2\xADz", 13}, "a????z"}, /* of no width */
        {{"\xE6\xBC", 2}, "??"},                                            /* cut off */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_escaped(cases[i].text, cases[i].expected);
    }
}

/* ---- Pages */

/* Free it. */
static char *print(const Facts *facts, Arena *scratch) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    report_html(facts, scratch, out);
    fclose(out);
    assert_int_equal(strlen(text), size);
    return text;
}

/* The page of a graph on a device with sweeps; made twice. */
static char *print_graph(const char *graph, const char *file, uint64_t budget_bytes) {
    const PlanCase test = {graph, "teach", NULL, {.in_place = true, .budget_bytes = budget_bytes}};
    Planned planned;
    assert_true(planned_make(&planned, &test));
    const Facts *facts = facts_gather(file, planned.plan, NULL, false, &planned.work);
    char *text = print(facts, &planned.work.scratch);
    char *again = print(facts, &planned.work.scratch);
    assert_string_equal(text, again);
    free(again);
    planned_free(&planned);
    return text;
}

static size_t count(const char *text, char c) {
    size_t found = 0;
    for (; *text != '\0'; text++) {
        found += *text == c;
    }
    return found;
}

#define NETWORK(X, s, t, m)                                                                                            \
    "stride0-graph 1\ninput \"" X "\" int8[1,4,4,8]\nconst \"" s "\" int8[8] = 1 2 3 4 5 6 7 8\nvalue \"" t            \
    "\" int8[1,4,4,8]\nnode Mul \"" m "\": \"" X "\" \"" s "\" -> \"" t "\"\noutput \"" t "\"\n"

/* In the text form a byte is \xHH. */
#define HOSTILE "</title></svg></script>\\x22><img src=x onerror='1'>&\\x00\\x1B\\xFF]]>"

static void check_hostile(uint64_t budget_bytes) {
    char *tame = print_graph(NETWORK("X", "s", "t", "m"), "file", budget_bytes);
    char *hostile = print_graph(NETWORK(HOSTILE "0", HOSTILE "1", HOSTILE "2", HOSTILE "3"),
                                "</title><script>\"'\x1B\xFF", budget_bytes);
    assert_int_equal(count(tame, '<'), count(hostile, '<'));
    assert_int_equal(count(tame, '"'), count(hostile, '"'));
    assert_null(strstr(hostile, "<img"));
    assert_null(strchr(hostile, '\x1B'));
    assert_null(strchr(hostile, '\xFF'));
    assert_non_null(strstr(hostile, "&lt;img src=x onerror=&#39;1&#39;&gt;&amp;???]]&gt;"));
    free(tame);
    free(hostile);
}

static void test_hostile_names(void **state) {
    (void)state;
    check_hostile(0);
    check_hostile(64); /* does not fit */
}

static void test_no_steps(void **state) {
    (void)state;
    char *page = print_graph("stride0-graph 1\ninput X int8[8]\noutput X\n", "empty", 0);
    assert_non_null(strstr(page, "</html>"));
    free(page);
}

static void test_nothing_from_elsewhere(void **state) {
    (void)state;
    static const char *const wanted[] = {"http:", "https:", "src=", "url(http", "@import", "<link", "fetch("};
    char *page = print_graph(NETWORK("X", "s", "t", "m"), "file", 0);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        assert_null(strstr(page, wanted[i]));
    }
    free(page);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_escape),
        cmocka_unit_test(test_hostile_names),
        cmocka_unit_test(test_no_steps),
        cmocka_unit_test(test_nothing_from_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
