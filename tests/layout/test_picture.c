/* Proves what the picture of a view shows: each expectation below was written by hand from the addresses that the rules
 * give. And that it stays within its width and height. */
#include "layout/picture.h"
#include "layout/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *picture_of(const View *view) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    picture_print(view, out);
    fclose(out);
    return text;
}

typedef struct {
    const char *contract;
    uint32_t bits;
    uint64_t c, h, w;
    const char *picture;
} Drawn;

static const Drawn drawn[] = {
    /* a pixel is 3 channels and a byte to fill 4; a line of the image 2 pixels */
    {"N H W C@4", 8, 3, 2, 2,
     "cells of bank 0, a byte each: the letter is C (a is 0), '.' is padding\n"
     "row:\n"
     "  abc.abc.abc.abc.\n"
     "plane, 8 cells a line:\n"
     "  abc.abc.\n"
     "  abc.abc.\n"},
    /* the same, channel first: a line of the image is 2 bytes, a plane of it 4 */
    {"N C H W", 8, 3, 2, 2,
     "cells of bank 0, a byte each: the letter is C (a is 0), '.' is padding\n"
     "row:\n"
     "  aaaabbbbcccc\n"
     "plane, 4 cells a line:\n"
     "  aaaa\n"
     "  bbbb\n"
     "  cccc\n"},
    /* int4 lines of 3 elements that end on bytes: 4 cells */
    {"N C H W@1", 4, 2, 2, 3,
     "cells of bank 0, 4 bits each: the letter is C (a is 0), '.' is padding\n"
     "row:\n"
     "  aaa.aaa.bbb.bbb.\n"
     "plane, 8 cells a line:\n"
     "  aaa.aaa.\n"
     "  bbb.bbb.\n"},
    /* bank 0 of 2 holds channels a and c; head and tail are padding */
    {"bank[C%2] N C/2+1 H W tail+2", 8, 4, 1, 2,
     "cells of bank 0, a byte each: the letter is C (a is 0), '.' is padding\n"
     "row:\n"
     "  .aa.cc..\n"
     "plane, 3 cells a line:\n"
     "  .aa\n"
     "  .cc\n"
     "  ..\n"},
    /* blocks of 4 channels, of which the second is half empty */
    {"N C/4 H W C%4", 8, 6, 1, 2,
     "cells of bank 0, a byte each: the letter is C (a is 0), '.' is padding\n"
     "row:\n"
     "  abcdabcdef..ef..\n"
     "plane, 8 cells a line:\n"
     "  abcdabcd\n"
     "  ef..ef..\n"},
    /* six lines that look alike, of which five are left out */
    {"N H W C@4", 8, 3, 6, 1,
     "cells of bank 0, a byte each: the letter is C (a is 0), '.' is padding\n"
     "row:\n"
     "  abc.abc.abc.abc.abc.abc.\n"
     "plane, 4 cells a line:\n"
     "  abc.\n"
     "  and 5 lines like it\n"},
    /* one line and nothing to fold */
    {"C", 8, 28, 1, 1,
     "cells of bank 0, a byte each: the letter is C (a is 0), '.' is padding\n"
     "row:\n"
     "  abcdefghijklmnopqrstuvwxyzab\n"},
    {"N C H W", 8, 0, 2, 2, "no elements: nothing is stored\n"},
};

static void pictures_show_the_addresses(Work *work) {
    for (size_t i = 0; i < sizeof drawn / sizeof drawn[0]; i++) {
        View view = resolve(work, drawn[i].contract, shape_nchw(drawn[i].bits, 1, drawn[i].c, drawn[i].h, drawn[i].w));
        char *text = picture_of(&view);
        if (strcmp(text, drawn[i].picture) != 0) {
            fail_msg("'%s' drew\n%s, not\n%s", drawn[i].contract, text, drawn[i].picture);
        }
        free(text);
    }
}

static void check_size(const char *text) {
    size_t lines = 0, column = 0;
    for (; *text != '\0'; text++) {
        column = *text == '\n' ? 0 : column + 1;
        lines += *text == '\n';
        assert_true(column <= 100);
    }
    assert_true(lines <= 40);
}

static void pictures_stay_small(Work *work) {
    static const char *const contracts[] = {"N C H W", "N H W C@64", "bank[C%64] N C/64 H@64 W",
                                            "N C H W@1024 total@4096"};
    static const uint32_t widths[] = {1, 3, 4, 8, 20, 128};
    for (size_t c = 0; c < sizeof contracts / sizeof contracts[0]; c++) {
        for (size_t b = 0; b < sizeof widths / sizeof widths[0]; b++) {
            View view = resolve(work, contracts[c], shape_nchw(widths[b], 2, 300, 1000, 100000));
            char *text = picture_of(&view);
            check_size(text);
            assert_non_null(strstr(text, " >\n")); /* the row is cut, and says so */
            assert_non_null(strstr(text, " more lines\n"));
            free(text);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WORK_TEST(pictures_show_the_addresses),
        WORK_TEST(pictures_stay_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
