/* Edit distance between short names. Source: Damerau 1964; Wagner & Fischer 1974 (optimal string alignment). */
#include "device/nearest.h"

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

uint32_t device_distance(Str a, Str b) {
    uint32_t row[3][MAX_NAME_BYTES + 1] = {0};
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

bool device_is_near(Str typed, Str name) {
    if (device_distance(typed, name) <= (name.len + 2) / 3) {
        return true;
    }
    bool is_start = typed.len >= 4 && typed.len < name.len &&
                    device_distance(typed, (Str){name.ptr, typed.len}) <= (typed.len + 2) / 3;
    return is_start || (typed.len >= 3 && contains(name, typed)) || (name.len >= 3 && contains(typed, name));
}

const char *device_nearest(Str typed, const char *const *name, size_t count) {
    const char *best = NULL;
    uint32_t best_distance = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        Str candidate = str_from(name[i]);
        uint32_t distance = device_distance(typed, candidate);
        if (distance < best_distance && device_is_near(typed, candidate)) {
            best = name[i];
            best_distance = distance;
        }
    }
    return best;
}
