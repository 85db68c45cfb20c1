/* Edit distance between names. Source: Damerau 1964; Wagner & Fischer 1974 (optimal string alignment). */
#include "base/nearest.h"

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
