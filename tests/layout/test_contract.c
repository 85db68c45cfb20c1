/* Proves that the parser takes the whole grammar of the layout contract, that guards choose the case they should, and
 * that each thing a text can do wrong is told with its column. */
#include "layout/support.h"

#include <stdio.h>
#include <string.h>

/* ---- Texts that are right */

static const char *const good[] = {
    "N",
    "  N\tC\nH  W  ",
    "when C==1: N H W@16 C | N H W C@16",
    "N H C/16 W C%16",
    "bank[C%64] N C/64 H@64 W",
    "bank[ C%2 H%2 ] N C/2 H/2 W",
    "bank[C] N H W",
    "bank[C]N H W",
    "N C H W@1 total@16 base@256 tail+0",
    "W^16 total@1",
    "O/32 I/32 H W I/4%8 O%32 I%4",
    "N C H W/32+2 W%16 W/16%2",
    "when rank==2:N C^3@5+7|N",
    "when bits<=4 and rank!=2 or C in { 1 , 3,4 } : N C|when H>0:H|when W>=2:W|when O<3:O|I",
    "when C in {0}:C",
    "C%1 C%4 C/4",
    "N/1 C%18446744073709551615 C/18446744073709551615",
    "when N==0:N", /* the last case may have a guard */
};

static void whole_grammar_is_taken(Work *work) {
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        const Contract *contract = parse(work, good[i]);
        Str trimmed = str_trim(str_from(good[i]));
        assert_true(str_eq(contract_text(contract), trimmed));
    }
}

/* ---- Texts that are wrong */

typedef struct {
    const char *text;
    uint32_t column;
    const char *what, *got, *expected; /* parts of what is told */
} Bad;

static const Bad bad[] = {
    {"", 1, "a level is missing", "the end", "such as"},
    {"   ", 4, "a level is missing", "the end", ""},
    {"n", 1, "a level is missing", "n", ""},
    {"N Q W", 3, "unknown dimension", "Q", "N, C, H, W, O or I"},
    {"NC", 2, "does not end here", "C", "space"},
    {"N C/ W", 5, "a number is missing", "", "digits"},
    {"N C%x", 5, "a number is missing", "x", "digits"},
    {"N C/-1", 5, "a number is missing", "-1", "digits"},
    {"N C/0", 5, "too small", "0", "at least 1"},
    {"N C%0", 5, "too small", "0", "at least 1"},
    {"N C^0", 5, "too small", "0", "at least 1"},
    {"N C@0", 5, "too small", "0", "at least 1"},
    {"N total@0", 9, "too small", "0", "at least 1"},
    {"N base@0", 8, "too small", "0", "at least 1"},
    {"N C%18446744073709551616", 5, "too large", "18446744073709551616", "below 2^64"},
    {"N C@16%2", 7, "does not end here", "%2", "in this order"},
    {"N C+1@2", 6, "does not end here", "@2", "in this order"},
    {"N C H W h", 9, "the case does not end here", "h", "'|' or the end"},
    {"N total@4 C", 11, "the case does not end here", "C", ""},
    {"N tail+4 total@4", 10, "the case does not end here", "total@4", "in this order"},
    {"N total@4 total@4", 11, "the case does not end here", "total@4", ""},
    {"N base@4x", 9, "does not end here", "x", "space"},
    {"N ] C", 3, "the case does not end here", "]", ""},
    {"N bank[C]", 3, "the case does not end here", "bank[C]", ""},
    {"bank[C", 7, "bank[ does not end", "the end", "]"},
    {"bank[C | N", 8, "bank[ does not end", "|", "]"},
    {"bank[] N", 6, "unknown dimension", "]", "N, C"},
    {"bank[C%4", 9, "bank[ does not end", "the end", "]"},
    {"bank[C@4] N", 7, "does not end here", "@4]", "']'"},
    {"bank[C]", 8, "a level is missing", "the end", ""},
    {"when N==1:N |", 14, "a level is missing", "the end", ""},
    /* guards */
    {"N | C", 1, "only the last case", "N", "when"},
    {"when C==1:N | H | W", 15, "only the last case", "H", "when"},
    {"when X==1: N", 6, "unknown variable", "X==1:", "bits or rank"},
    {"when bit==1: N", 6, "unknown variable", "bit==1:", "bits or rank"},
    {"when bits8: N", 6, "unknown variable", "bits8:", "bits or rank"},
    {"when C=1: N", 7, "a comparison is missing", "=1:", "=="},
    {"when C: N", 7, "a comparison is missing", ":", "=="},
    {"when C==: N", 9, "a number is missing", ":", "digits"},
    {"when C==1 N", 11, "the guard does not end", "N", "':'"},
    {"when C==1 andH==1: N", 11, "the guard does not end", "andH==1:", "'and'"},
    {"when C==1 and: N", 14, "unknown variable", ":", "N, C"},
    {"when : N", 6, "unknown variable", ":", "N, C"},
    {"when", 5, "unknown variable", "the end", ""},
    {"when C in 1: N", 11, "a set is missing", "1:", "{1,3,4}"},
    {"when C in {}: N", 12, "a number is missing", "}:", "digits"},
    {"when C in {1,}: N", 14, "a number is missing", "}:", ""},
    {"when C in {1 2}: N", 14, "the set does not end", "2}:", "'}'"},
    {"when C in {1", 13, "the set does not end", "the end", "'}'"},
    {"when C==99999999999999999999: N", 9, "too large", "", ""},
    {"when C==1:", 11, "a level is missing", "the end", ""},
    {"whenC==1: N", 1, "a level is missing", "whenC==1:", ""},
    /* the digits of a dimension */
    {"N C C", 5, "stands twice", "C", "once"},
    {"N C%4 C/4 C%4", 11, "stands twice", "C%4", "once"},
    {"bank[C%4] C/4 C%4", 15, "stands twice", "C%4", "once"},
    {"N C/16 H", 3, "innermost digit", "C/16", "C%16"},
    {"N C%16 H", 3, "outermost digit", "C%16", "C/16"},
    {"bank[C%16] N H", 6, "outermost digit", "C%16", "C/16"},
    {"N C/2%8 C%2", 3, "outermost digit", "C/2%8", "C/16"},
    {"N C/16 H C", 10, "needs a mod", "C", "C%16"},
    {"N C/16 C/2 C%2", 8, "needs a mod", "C/2", "C/2%8"},
    {"N C/16 C%8", 3, "does not continue", "C/16", "div 8"},
    {"N C/8 C%16", 3, "does not continue", "C/8", "div 16"},
    {"N C/3 C/2 C%2", 3, "does not continue", "C/3", "multiple"},
    {"N C%4 C%8 C/8", 7, "does not continue", "C%8", "div 4"},
    {"N C%2 C/2%9223372036854775808", 7, "too large", "C/2%9223372036854775808", "below 2^64"},
    /* limits */
    {"C/32768 C%2 C/2%2 C/4%2 C/8%2 C/16%2 C/32%2 C/64%2 C/128%2 C/256%2 C/512%2 C/1024%2 C/2048%2 C/4096%2 C/8192%2 "
     "C/16384%2 N",
     122, "too many levels", "N", "at most 16"},
    {"bank[C%2 C/2%2 C/4%2 C/8%2 C/16%2 C/32%2 C/64%2 C/128%2 C/256] N", 57, "too many bank terms", "C/256]",
     "at most 8"},
    {"N \x01\xff", 3, "the case does not end here", "??", ""},
};

static bool tells(const char *text, const char *part) {
    return text != NULL && strstr(text, part) != NULL;
}

static void each_error_points_at_its_column(Work *work) {
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ContractError error = {0};
        if (contract_parse(&work->keep, str_from(bad[i].text), &error) != NULL) {
            fail_msg("'%s' was taken", bad[i].text);
        }
        if (error.column != bad[i].column || !tells(error.what, bad[i].what) || !tells(error.got, bad[i].got) ||
            !tells(error.expected, bad[i].expected)) {
            fail_msg("'%s': column %u: %s, got %s, expected %s; not column %u: %s, %s, %s", bad[i].text, error.column,
                     error.what, error.got, error.expected, bad[i].column, bad[i].what, bad[i].got, bad[i].expected);
        }
    }
}

static void endless_text_is_refused(Work *work) {
    static char text[(1 << 16) + 2];
    ContractError error = {0};
    memset(text, ' ', sizeof text);
    text[0] = 'N';
    assert_non_null(contract_parse(&work->keep, (Str){text, 1 << 16}, &error));
    assert_null(contract_parse(&work->keep, (Str){text, (1 << 16) + 1}, &error));
    assert_int_equal(error.column, (1 << 16) + 1);
}

/* The text need not end in NUL: each prefix of a text is read as if nothing stood behind it. */
static void nothing_is_read_behind_the_text(Work *work) {
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        for (size_t length = 0; length <= strlen(good[i]); length++) {
            char *copy = test_malloc(length + 1); /* exactly as long, so that a checker sees a read beyond it */
            memcpy(copy, good[i], length);
            ContractError error = {0};
            bool taken = contract_parse(&work->scratch, (Str){copy, length}, &error) != NULL;
            assert_true(taken || (error.column >= 1 && error.column <= length + 1));
            test_free(copy);
        }
        arena_reset(&work->scratch);
    }
}

/* ---- Which case holds */

typedef struct {
    const char *guard;
    bool holds; /* for C 3, H 20, W 28, bits 4, rank 4 */
} Held;

static const Held held[] = {
    {"C==3", true},
    {"C==4", false},
    {"C!=3", false},
    {"C<3", false},
    {"C<=3", true},
    {"C>3", false},
    {"C>=3", true},
    {"bits==4", true},
    {"rank==4", true},
    {"N==1", true},
    {"O==1 and I==1", true},
    {"C in {1,3,4}", true},
    {"C in {1,4}", false},
    {"C==3 and H==20", true},
    {"C==3 and H==21", false},
    {"C==4 or H==20", true},
    {"C==4 or H==21", false},
    /* 'and' binds tighter, on either side */
    {"C==3 or H==21 and W==29", true},
    {"C==4 or H==20 and W==29", false},
    {"H==21 and W==29 or C==3", true},
    {"H==21 and C==3 or W==29", false},
    {"C==4 and H==20 or C==3 and W==28", true},
};

static void guards_choose_the_case(Work *work) {
    LayoutShape shape = shape_nchw(4, 1, 3, 20, 28);
    for (size_t i = 0; i < sizeof held / sizeof held[0]; i++) {
        const char *text = arena_text(&work->keep, "when %s: N C H W | N H W C", held[i].guard);
        View view = resolve(work, text, shape);
        if ((view.which_case == 0) != held[i].holds) {
            fail_msg("case %u for '%s'", view.which_case, held[i].guard);
        }
    }
}

static void shapes_left_out_are_told(Work *work) {
    View view;
    Dim dim = DIM_N;
    LayoutShape shape = shape_nchw(8, 1, 3, 20, 28);
    assert_int_equal(view_resolve(parse(work, "when C==1: N C H W"), &shape, &view, &dim), VIEW_NO_CASE);
    assert_int_equal(view_resolve(parse(work, "N C W"), &shape, &view, &dim), VIEW_UNNAMED);
    assert_int_equal(dim, DIM_H);
    shape.extent[DIM_H] = 0; /* not 1 either */
    assert_int_equal(view_resolve(parse(work, "N C W"), &shape, &view, NULL), VIEW_UNNAMED);
    shape.extent[DIM_H] = 1;
    assert_int_equal(view_resolve(parse(work, "N C W"), &shape, &view, &dim), VIEW_DONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WORK_TEST(whole_grammar_is_taken),  WORK_TEST(each_error_points_at_its_column),
        WORK_TEST(endless_text_is_refused), WORK_TEST(nothing_is_read_behind_the_text),
        WORK_TEST(guards_choose_the_case),  WORK_TEST(shapes_left_out_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
