/* String views: comparison, cutting, characters, numbers. */
#include "base/str.h"

#include "base/checked.h"

#include <string.h>

Str str_from(const char *text) {
    return (Str){text, text == NULL ? 0 : strlen(text)};
}

bool str_eq(Str a, Str b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

int str_order(Str a, Str b) {
    size_t shared = a.len < b.len ? a.len : b.len;
    int order = shared == 0 ? 0 : memcmp(a.ptr, b.ptr, shared);
    if (order != 0 || a.len == b.len) {
        return order;
    }
    return a.len < b.len ? -1 : 1;
}

bool str_starts(Str s, Str prefix) {
    return s.len >= prefix.len && str_eq((Str){s.ptr, prefix.len}, prefix);
}

bool str_ends(Str s, Str suffix) {
    return s.len >= suffix.len && str_eq((Str){s.ptr + (s.len - suffix.len), suffix.len}, suffix);
}

bool str_is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f';
}

Str str_trim(Str s) {
    while (s.len > 0 && str_is_space(s.ptr[0])) {
        s.ptr++;
        s.len--;
    }
    while (s.len > 0 && str_is_space(s.ptr[s.len - 1])) {
        s.len--;
    }
    return s;
}

Str str_cut(Str *rest, char separator) {
    Str whole = *rest;
    const char *found = whole.len == 0 ? NULL : memchr(whole.ptr, separator, whole.len);
    if (found == NULL) {
        *rest = (Str){NULL, 0};
        return whole;
    }
    size_t before = (size_t)(found - whole.ptr);
    *rest = (Str){found + 1, whole.len - before - 1};
    return (Str){whole.ptr, before};
}

size_t str_character(Str s, uint32_t *character) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint8_t first = (uint8_t)s.ptr[0];
    size_t length = first < 0x80 ? 1 : first < 0xC0 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF8 ? 4 : 0;
    if (length == 0 || length > s.len) {
        return 0;
    }
    *character = length == 1 ? first : first & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        uint8_t next = (uint8_t)s.ptr[i];
        if ((next & 0xC0) != 0x80) {
            return 0;
        }
        *character = *character << 6 | (next & 0x3F);
    }
    bool is_surrogate = *character >= 0xD800 && *character <= 0xDFFF;
    return *character < least[length] || *character > 0x10FFFF || is_surrogate ? 0 : length;
}

bool str_to_u64(Str s, uint64_t *number) {
    uint64_t value = 0;
    if (s.len == 0) {
        return false;
    }
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] < '0' || s.ptr[i] > '9' || !checked_mul(value, 10, &value) ||
            !checked_add(value, (uint64_t)(s.ptr[i] - '0'), &value)) {
            return false;
        }
    }
    *number = value;
    return true;
}

bool str_to_i64(Str s, int64_t *number) {
    bool negative = s.len > 0 && s.ptr[0] == '-';
    uint64_t magnitude;
    if (negative) {
        s = (Str){s.ptr + 1, s.len - 1};
    }
    if (!str_to_u64(s, &magnitude) || magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0)) {
        return false;
    }
    if (!negative) {
        *number = (int64_t)magnitude;
    } else {
        *number = magnitude > (uint64_t)INT64_MAX ? INT64_MIN : -(int64_t)magnitude;
    }
    return true;
}

bool str_to_bytes(Str s, uint64_t *bytes) {
    static const char unit[] = "KMG";
    const char *found = s.len == 0 ? NULL : memchr(unit, s.ptr[s.len - 1], sizeof unit - 1);
    if (found == NULL) {
        return str_to_u64(s, bytes);
    }
    uint64_t number;
    uint64_t factor = (uint64_t)1 << (10 * (found - unit + 1));
    return str_to_u64((Str){s.ptr, s.len - 1}, &number) && checked_mul(number, factor, bytes);
}

uint64_t str_hash(Str s, uint64_t seed) {
    uint64_t hash = 14695981039346656037u ^ seed;
    for (size_t i = 0; i < s.len; i++) {
        hash = (hash ^ (uint8_t)s.ptr[i]) * 1099511628211u;
    }
    return hash;
}
