/* Reading a contract's text: tokens, numbers, and errors that point at a column. */
#include "layout/contract_scan.h"

#include "base/checked.h"

#include <string.h>

enum { LONGEST_QUOTE = 32 };

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

void scan_space(Scan *scan) {
    while (!scan_is_end(scan) && str_is_space(scan_peek(scan))) {
        scan->at++;
    }
}

char scan_peek(const Scan *scan) {
    return scan_is_end(scan) ? '\0' : scan->text.ptr[scan->at];
}

bool scan_is_end(const Scan *scan) {
    return scan->at == scan->text.len;
}

bool scan_accept(Scan *scan, const char *token) {
    size_t length = strlen(token);
    if (scan->text.len - scan->at < length || memcmp(scan->text.ptr + scan->at, token, length) != 0) {
        return false;
    }
    scan->at += length;
    return true;
}

bool scan_accept_word(Scan *scan, const char *word) {
    size_t begin = scan->at;
    if (!scan_accept(scan, word)) {
        return false;
    }
    if (is_letter(scan_peek(scan)) || is_digit(scan_peek(scan))) {
        scan->at = begin;
        return false;
    }
    return true;
}

bool scan_accept_dim(Scan *scan, Dim *dim) {
    for (int d = 0; d < DIM_COUNT; d++) {
        if (!scan_is_end(scan) && scan_peek(scan) == dim_letter((Dim)d)) {
            *dim = (Dim)d;
            scan->at++;
            return true;
        }
    }
    return false;
}

bool scan_expect_number(Scan *scan, uint64_t smallest, uint64_t *number) {
    size_t begin = scan->at;
    while (is_digit(scan_peek(scan))) {
        scan->at++;
    }
    if (scan->at == begin) {
        return scan_error(scan, begin, "a number is missing", "decimal digits");
    }
    if (!str_to_u64((Str){scan->text.ptr + begin, scan->at - begin}, number)) {
        return scan_error(scan, begin, "the number is too large", "a number below 2^64");
    }
    return *number >= smallest || scan_error(scan, begin, "the number is too small", "at least 1");
}

const char *scan_quote(Scan *scan, size_t begin, size_t end) {
    char text[LONGEST_QUOTE + 1];
    size_t length = end - begin;
    bool is_cut = length > LONGEST_QUOTE;
    length = is_cut ? LONGEST_QUOTE : length;
    for (size_t i = 0; i < length; i++) {
        char c = scan->text.ptr[begin + i];
        text[i] = (char)(c >= ' ' && c <= '~' ? c : '?');
    }
    text[length] = '\0';
    return arena_text(scan->arena, "%s%s", text, is_cut ? "..." : "");
}

bool scan_error(Scan *scan, size_t at, const char *what, const char *expected) {
    size_t end = at;
    while (end < scan->text.len && !str_is_space(scan->text.ptr[end])) {
        end++;
    }
    /* contract_parse takes no text whose columns do not fit */
    *scan->error = (ContractError){.column = (uint32_t)at + 1,
                                   .what = what,
                                   .got = at == scan->text.len ? "the end" : scan_quote(scan, at, end),
                                   .expected = expected};
    return false;
}
