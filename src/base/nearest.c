/* Edit distance between names. Source: Damerau 1964; Wagner & Fischer 1974 (optimal string alignment). */
#include "base/nearest.h"

#include "base/checked.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

enum { MAX_NAME_BYTES = 64 };

static uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

/* row[k] is the distance of the k-th last prefix of `a` to each prefix of `b`. */
static void next_row(uint32_t row[3][MAX_NAME_BYTES + 1], Str a, size_t i, Str b) {
    for (size_t j = 0; j <= b.len; j++) {
        row[2][j] = row[1][j];
        row[1][j] = row[0][j];
    }
    row[0][0] = (uint32_t)i;
    for (size_t j = 1; j <= b.len; j++) {
        bool equal = a.ptr[i - 1] == b.ptr[j - 1];
        bool swapped = i > 1 && j > 1 && a.ptr[i - 1] == b.ptr[j - 2] && a.ptr[i - 2] == b.ptr[j - 1];
        uint32_t best = least(row[1][j - 1] + !equal, 1 + least(row[1][j], row[0][j - 1]));
        row[0][j] = swapped ? least(best, row[2][j - 2] + 1) : best;
    }
}

/* Equal letters at either end cost nothing. Tensors have long names that differ in a few letters. */
static void trim_equal_ends(Str *a, Str *b) {
    while (a->len > 0 && b->len > 0 && a->ptr[0] == b->ptr[0]) {
        *a = (Str){a->ptr + 1, a->len - 1};
        *b = (Str){b->ptr + 1, b->len - 1};
    }
    while (a->len > 0 && b->len > 0 && a->ptr[a->len - 1] == b->ptr[b->len - 1]) {
        a->len--;
        b->len--;
    }
}

uint32_t nearest_distance(Str a, Str b) {
    uint32_t row[3][MAX_NAME_BYTES + 1] = {0};
    trim_equal_ends(&a, &b);
    if (a.len > MAX_NAME_BYTES || b.len > MAX_NAME_BYTES) {
        return UINT32_MAX;
    }
    for (size_t j = 0; j <= b.len; j++) {
        row[0][j] = (uint32_t)j;
    }
    for (size_t i = 1; i <= a.len; i++) {
        next_row(row, a, i, b);
    }
    return row[0][b.len];
}

static bool contains(Str whole, Str part) {
    for (size_t i = 0; i + part.len <= whole.len; i++) {
        if (str_eq((Str){whole.ptr + i, part.len}, part)) {
            return true;
        }
    }
    return false;
}

static bool is_near_at(Str typed, Str name, uint32_t distance) {
    if (distance <= (name.len + 2) / 3) {
        return true;
    }
    bool is_start =
        typed.len >= 4 && typed.len < name.len && nearest_distance(typed, (Str){name.ptr, typed.len}) <= typed.len / 4;
    return is_start || (typed.len >= 3 && contains(name, typed)) || (name.len >= 3 && contains(typed, name));
}

bool nearest_is_near(Str typed, Str name) {
    return is_near_at(typed, name, nearest_distance(typed, name));
}

void nearest_offer(Nearest *nearest, Str name) {
    uint32_t distance = nearest_distance(nearest->typed, name);
    bool is_nearer = nearest->name.len == 0 || distance < nearest->distance;
    if (is_nearer && name.len > 0 && is_near_at(nearest->typed, name, distance)) {
        nearest->name = name;
        nearest->distance = distance;
    }
}

const char *nearest_hint(Arena *arena, const Nearest *nearest, const char *otherwise) {
    return nearest->name.len == 0 ? otherwise
                                  : arena_text(arena, "did you mean '" STR_FMT "'?", STR_ARG(nearest->name));
}

const char *nearest_of(Str typed, const char *const *name, size_t count) {
    Nearest nearest = {.typed = typed};
    for (size_t i = 0; i < count; i++) {
        nearest_offer(&nearest, str_from(name[i]));
    }
    return nearest.name.ptr; /* ended by NUL, as all of them are */
}

/* ---- Numbers of bytes */

/* The value of a digit; 16 of what is none. */
static uint32_t digit_value(char c) {
    return c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
           : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10
           : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A') + 10
                                  : 16;
}

/* The digits that `rest` begins with, and what separates groups of them; false where there are none, or too many. */
static bool take_digits(Str *rest, uint32_t base, uint64_t *number) {
    size_t at = 0;
    bool fits = true;
    *number = 0;
    while (at < rest->len && fits) {
        bool is_separator = at > 0 && (rest->ptr[at] == ',' || rest->ptr[at] == '_');
        uint32_t digit = digit_value(rest->ptr[at]);
        if (!is_separator && digit >= base) {
            break;
        }
        fits = is_separator || (checked_mul(*number, base, number) && checked_add(*number, digit, number));
        at++;
    }
    if (at > 0) { /* an empty text may have no pointer */
        *rest = (Str){rest->ptr + at, rest->len - at};
    }
    return fits && at > 0;
}

/* 1024 to which power; false of what is no unit. */
static bool find_power(Str unit, uint32_t *power) {
    static const char *const units[][5] = {{"", "b", "byte", "bytes", ""},
                                           {"k", "kb", "kib", "", ""},
                                           {"m", "mb", "mib", "", ""},
                                           {"g", "gb", "gib", "", ""}};
    for (*power = 0; *power < sizeof units / sizeof *units; ++*power) {
        for (size_t k = 0; k < sizeof *units / sizeof **units; k++) {
            const char *name = units[*power][k];
            bool is_empty = k > 0 && name[0] == '\0';
            if (!is_empty && unit.len == strlen(name) && strncasecmp(unit.ptr, name, unit.len) == 0) {
                return true;
            }
        }
    }
    return false;
}

bool nearest_bytes_meant(Str typed, uint64_t *bytes) {
    Str rest = str_trim(typed);
    uint32_t power;
    bool is_hex = rest.len > 2 && rest.ptr[0] == '0' && (rest.ptr[1] == 'x' || rest.ptr[1] == 'X');
    if (is_hex) {
        rest = (Str){rest.ptr + 2, rest.len - 2};
    }
    return take_digits(&rest, is_hex ? 16 : 10, bytes) && find_power(str_trim(rest), &power) &&
           checked_mul(*bytes, (uint64_t)1 << (10 * power), bytes) && *bytes > 0;
}

/* Of a unit beyond a byte, or of a hexadecimal number: neither is as people read it. */
static bool has_letter(Str typed) {
    bool has = false;
    for (size_t k = 0; k < typed.len; k++) {
        has = has || strchr("kKmMgGxX", typed.ptr[k]) != NULL;
    }
    return has;
}

const char *nearest_bytes(Arena *arena, Str typed) {
    static const char *const unit[] = {"", "K", "M", "G"};
    uint64_t bytes;
    size_t power = 0;
    if (!nearest_bytes_meant(typed, &bytes)) {
        return NULL;
    }
    bool has_unit = has_letter(typed);
    for (; has_unit && power < 3 && bytes % 1024 == 0; power++) {
        bytes /= 1024;
    }
    return arena_text(arena, "did you mean %" PRIu64 "%s?", bytes, unit[power]);
}
