/* Axes and cells of the test matrix. */
#include "matrix/axes.h"

/* All different; C = H; C = W; all equal; one channel; channels that fill no block of four; two maps. */
static const char *const shapes[] = {"1x12x20x28", "1x20x20x28", "1x28x20x28", "1x20x20x20",
                                     "1x1x20x28",  "1x13x20x28", "2x12x20x28"};
static const char *const contracts[] = {"channel-first", "channel-last", "blocked", "lanes", "row-padded"};
static const char *const dtypes[] = {"int4", "int8", "int16", "float32"};
static const char *const aligns[] = {"1", "16", "32", "64"};
static const char *const forms[] = {"scalar", "channel", "row", "full"};
static const char *const schedules[] = {"fused", "split", "pipelined"};
static const char *const readers[] = {"single", "bypass"};
static const char *const coefficients[] = {"general", "unit_scale", "unit_scale_zero_bias", "near_one"};
static const char *const parameters[] = {"resident", "reloaded"};

/* What is aligned: a plane, a pixel, a plane of a block, a plane in each lane, a row. The number stands between. */
static const char *const layouts[][2] = {
    [CONTRACT_CHANNEL_FIRST] = {"N C H@", " W"}, [CONTRACT_CHANNEL_LAST] = {"N H W C@", ""},
    [CONTRACT_BLOCKED] = {"N C/4 H@", " W C%4"}, [CONTRACT_LANES] = {"bank[C%4] N C/4 H@", " W"},
    [CONTRACT_ROW_PADDED] = {"N C H W@", ""},
};

#define WORDS(list) sizeof(list) / sizeof *(list), list

const MatrixWords matrix_words[MATRIX_AXES] = {
    [AXIS_SHAPE] = {"shape", WORDS(shapes)},
    [AXIS_CONTRACT] = {"contract", WORDS(contracts)},
    [AXIS_DTYPE] = {"dtype", WORDS(dtypes)},
    [AXIS_ALIGN] = {"align", WORDS(aligns)},
    [AXIS_FORM] = {"form", WORDS(forms)},
    [AXIS_SCHEDULE] = {"schedule", WORDS(schedules)},
    [AXIS_READER] = {"reader", WORDS(readers)},
    [AXIS_COEFFICIENTS] = {"coefficients", WORDS(coefficients)},
    [AXIS_PARAMETERS] = {"parameters", WORDS(parameters)},
};

uint32_t matrix_cell_count(void) {
    uint32_t count = 1;
    for (int k = 0; k < MATRIX_AXES; k++) {
        count *= matrix_words[k].count;
    }
    return count;
}

MatrixCell matrix_cell(uint32_t number) {
    MatrixCell cell;
    for (int k = MATRIX_AXES; k-- > 0;) {
        cell.at[k] = (uint8_t)(number % matrix_words[k].count);
        number /= matrix_words[k].count;
    }
    return cell;
}

uint32_t matrix_number(const MatrixCell *cell) {
    uint32_t number = 0;
    for (int k = 0; k < MATRIX_AXES; k++) {
        number = number * matrix_words[k].count + cell->at[k];
    }
    return number;
}

const char *matrix_word(const MatrixCell *cell, MatrixAxis axis) {
    return matrix_words[axis].words[cell->at[axis]];
}

const char *matrix_contract(const MatrixCell *cell, Arena *arena) {
    const char *const *around = layouts[cell->at[AXIS_CONTRACT]];
    return arena_text(arena, "%s%s%s", around[0], matrix_word(cell, AXIS_ALIGN), around[1]);
}

const char *matrix_left_out(const MatrixCell *cell) {
    bool is_dense = cell->at[AXIS_ALIGN] == 0 && cell->at[AXIS_DTYPE] != 0;
    return cell->at[AXIS_CONTRACT] == CONTRACT_ROW_PADDED && is_dense
               ? "rows of whole bytes are not padded to one byte: channel-first, once more"
               : NULL;
}

static uint32_t differences(const MatrixCell *a, const MatrixCell *b) {
    uint32_t count = 0;
    for (int k = 0; k < MATRIX_AXES; k++) {
        count += a->at[k] != b->at[k];
    }
    return count;
}

bool matrix_in_pairs(uint32_t number) {
    MatrixCell cell = matrix_cell(number);
    MatrixFilter all;
    matrix_filter_all(&all);
    const MatrixCell base = matrix_base(&all);
    uint64_t hash = (number + 1) * UINT64_C(0x9E3779B97F4A7C15); /* spread by the golden ratio, then mixed */
    hash = (hash ^ hash >> 32) * UINT64_C(0xD6E8FEB86659FD93);
    return (hash >> 32) % 20 == 0 || differences(&cell, &base) <= 1;
}

static uint32_t all_of(MatrixAxis axis) {
    return (1u << matrix_words[axis].count) - 1;
}

void matrix_filter_all(MatrixFilter *filter) {
    for (int k = 0; k < MATRIX_AXES; k++) {
        filter->allowed[k] = all_of((MatrixAxis)k);
    }
    for (uint32_t k = 0; k < MATRIX_CONTRACTS; k++) {
        filter->aligns[k] = all_of(AXIS_ALIGN);
    }
}

static MatrixAxis find_axis(Str name) {
    int k = 0;
    while (k < MATRIX_AXES && !str_eq(name, str_from(matrix_words[k].name))) {
        k++;
    }
    return (MatrixAxis)k;
}

static uint32_t find_word(MatrixAxis axis, Str word) {
    uint32_t k = 0;
    while (k < matrix_words[axis].count && !str_eq(word, str_from(matrix_words[axis].words[k]))) {
        k++;
    }
    return k;
}

/* "N H W C@16", as the tables print it: the contract's place and that of its alignment. */
static bool find_layout(Str text, uint32_t *contract, uint32_t *align) {
    for (*contract = 0; *contract < MATRIX_CONTRACTS; ++*contract) {
        const Str before = str_from(layouts[*contract][0]), behind = str_from(layouts[*contract][1]);
        if (str_starts(text, before) && text.len >= before.len + behind.len) {
            const Str tail = {text.ptr + text.len - behind.len, behind.len};
            *align = find_word(AXIS_ALIGN, (Str){text.ptr + before.len, text.len - before.len - behind.len});
            if (str_eq(tail, behind) && *align < matrix_words[AXIS_ALIGN].count) {
                return true;
            }
        }
    }
    return false;
}

/* One word of a filter: what it adds to the values, and of a contract to its alignments. */
static bool read_word(MatrixFilter *added, MatrixAxis axis, Str word) {
    uint32_t found = find_word(axis, word), align = 0;
    bool is_word = found < matrix_words[axis].count;
    if (!is_word && (axis != AXIS_CONTRACT || !find_layout(word, &found, &align))) {
        return false;
    }
    added->allowed[axis] |= 1u << found;
    if (axis == AXIS_CONTRACT) {
        added->aligns[found] |= is_word ? all_of(AXIS_ALIGN) : 1u << align;
    }
    return true;
}

bool matrix_filter_read(MatrixFilter *filter, Str text, MatrixAxis *axis) {
    MatrixFilter added = {0};
    *axis = find_axis(str_cut(&text, '='));
    if (*axis == MATRIX_AXES) {
        return false;
    }
    do {
        if (!read_word(&added, *axis, str_cut(&text, ','))) {
            return false;
        }
    } while (text.ptr != NULL);
    filter->allowed[*axis] &= added.allowed[*axis];
    for (uint32_t k = 0; k < MATRIX_CONTRACTS && *axis == AXIS_CONTRACT; k++) {
        filter->aligns[k] &= added.aligns[k];
    }
    return true;
}

bool matrix_filter_takes(const MatrixFilter *filter, const MatrixCell *cell) {
    bool takes = (filter->aligns[cell->at[AXIS_CONTRACT]] >> cell->at[AXIS_ALIGN] & 1) != 0;
    for (int k = 0; k < MATRIX_AXES; k++) {
        takes = takes && (filter->allowed[k] >> cell->at[k] & 1) != 0;
    }
    return takes;
}

MatrixCell matrix_base(const MatrixFilter *filter) {
    MatrixCell base = {{[AXIS_CONTRACT] = CONTRACT_CHANNEL_LAST, [AXIS_DTYPE] = 1, [AXIS_ALIGN] = 1, [AXIS_FORM] = 1}};
    for (int k = 0; k < MATRIX_AXES; k++) {
        uint32_t allowed = filter->allowed[k];
        allowed &= k == AXIS_ALIGN ? filter->aligns[base.at[AXIS_CONTRACT]] : allowed;
        bool has_it = (allowed >> base.at[k] & 1) != 0;
        for (uint8_t word = 0; !has_it && word < matrix_words[k].count; word++) {
            has_it = (allowed >> word & 1) != 0;
            base.at[k] = word;
        }
    }
    return base;
}
