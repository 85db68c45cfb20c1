/* float32 as text, from and to the bits of its sign, exponent and fraction. */
#include "cmd/text_float.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { FRACTION_BITS = 23, FRACTION_DIGITS = 6, BIAS = 127, INFINITE = 255 };

static const uint32_t fraction_mask = (UINT32_C(1) << FRACTION_BITS) - 1;

void cmd_float_print(uint32_t bits, char text[CMD_FLOAT_TEXT]) {
    const char *sign = bits >> 31 != 0 ? "-" : "";
    int exponent = (int)(bits >> FRACTION_BITS & INFINITE);
    uint32_t fraction = bits & fraction_mask;
    char digits[FRACTION_DIGITS + 2];
    if (exponent == INFINITE && fraction != 0) {
        snprintf(text, CMD_FLOAT_TEXT, "nan:%08" PRIx32, bits);
    } else if (exponent == INFINITE) {
        snprintf(text, CMD_FLOAT_TEXT, "%sinf", sign);
    } else if (exponent == 0 && fraction == 0) {
        snprintf(text, CMD_FLOAT_TEXT, "%s0", sign);
    } else {
        snprintf(digits, sizeof digits, ".%06" PRIx32, fraction << 1);
        size_t length = FRACTION_DIGITS + 1;
        while (length > 0 && (digits[length - 1] == '0' || digits[length - 1] == '.')) {
            digits[--length] = '\0';
        }
        snprintf(text, CMD_FLOAT_TEXT, "%s0x%d%sp%+d", sign, exponent != 0, digits,
                 exponent == 0 ? 1 - BIAS : exponent - BIAS);
    }
}

/* ---- Reading */

static bool take(Str *text, const char *word) {
    bool is_there = str_starts(*text, str_from(word));
    if (is_there) {
        text->ptr += strlen(word);
        text->len -= strlen(word);
    }
    return is_there;
}

static bool take_hex(Str *text, uint32_t *digit) {
    static const char digits[] = "0123456789abcdef";
    const char *at = text->len == 0 || text->ptr[0] == '\0' ? NULL : strchr(digits, text->ptr[0]);
    if (at == NULL) {
        return false;
    }
    *digit = (uint32_t)(at - digits);
    text->ptr++;
    text->len--;
    return true;
}

static bool nan_bits(Str text, uint32_t *bits) {
    uint32_t digit;
    *bits = 0;
    for (int k = 0; k < 8; k++) {
        if (!take_hex(&text, &digit)) {
            return false;
        }
        *bits = *bits << 4 | digit;
    }
    return text.len == 0 && (*bits >> FRACTION_BITS & INFINITE) == INFINITE && (*bits & fraction_mask) != 0;
}

/* ".8" is half of the bits of a fraction. */
static bool take_fraction(Str *text, uint32_t *fraction) {
    uint32_t digit, count = 0, value = 0;
    *fraction = 0;
    if (!take(text, ".")) {
        return true;
    }
    while (count < FRACTION_DIGITS && take_hex(text, &digit)) {
        value = value << 4 | digit;
        count++;
    }
    value <<= 4 * (FRACTION_DIGITS - count);
    *fraction = value >> 1;
    return count > 0 && (value & 1) == 0;
}

static bool finite_bits(Str text, uint32_t *bits) {
    uint32_t fraction;
    int64_t exponent;
    bool is_normal = take(&text, "0x1");
    if ((!is_normal && !take(&text, "0x0")) || !take_fraction(&text, &fraction) || !take(&text, "p")) {
        return false;
    }
    take(&text, "+");
    if (!str_to_i64(text, &exponent) || exponent < 1 - BIAS || exponent > BIAS) {
        return false;
    }
    *bits = (is_normal ? (uint32_t)(exponent + BIAS) << FRACTION_BITS : 0) | fraction;
    return is_normal || (exponent == 1 - BIAS && fraction != 0);
}

bool cmd_float_parse(Str text, uint32_t *bits) {
    if (take(&text, "nan:")) {
        return nan_bits(text, bits);
    }
    uint32_t sign = take(&text, "-") ? UINT32_C(1) << 31 : 0;
    bool is_number = true;
    if (str_eq(text, STR("inf"))) {
        *bits = (uint32_t)INFINITE << FRACTION_BITS;
    } else if (str_eq(text, STR("0"))) {
        *bits = 0;
    } else {
        is_number = finite_bits(text, bits);
    }
    *bits |= sign;
    return is_number;
}
