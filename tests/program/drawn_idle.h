/* Models by chance with operators that leave every element where it is, of each kind that rewriting removes.
 *
 * One drawing gives two texts: with these operators, and without, where all else is the same. Extents are 2 or 3, so
 * that axes are taken for each other by whoever goes by sizes; ranks are 1 to 6. Between them stand normalisations,
 * constants along an axis, true transposes and reshapes, and in ONNX of codes convolutions and pools. */
#ifndef S0_TESTS_PROGRAM_DRAWN_IDLE_H
#define S0_TESTS_PROGRAM_DRAWN_IDLE_H

#include "support/random.h"
#include "support/text.h"

enum { MOST_RANK = 6 };

typedef enum { FLOATS, CODES, TFLITE, FAMILIES } Family;
typedef enum { WITH_IDLE, WITHOUT_IDLE, TEXTS } Which;

typedef struct {
    uint64_t random;
    Family family;
    Text *text[TEXTS];
    uint32_t now[TEXTS]; /* the number of the value at the end of the chain */
    uint32_t names, idle;
    uint32_t rank, dim[MOST_RANK];
    bool is_coded; /* what is at the end holds codes */
} IdleDrawing;

static inline uint32_t chance(IdleDrawing *d, uint32_t below) {
    return (uint32_t)random_below(&d->random, below);
}

/* ---- Pieces */

static inline void put_list(Text *text, const char *open, const uint32_t *at, uint32_t count, const char *between) {
    put(text, "%s", open);
    for (uint32_t k = 0; k < count; k++) {
        put(text, "%s%u", k == 0 ? "" : between, (unsigned)at[k]);
    }
}

static inline void put_value(Text *text, const IdleDrawing *d, const char *word, uint32_t name) {
    put(text, "%s t%u %s", word, (unsigned)name, d->is_coded ? "int8" : "float32");
    put_list(text, "[", d->dim, d->rank, ",");
    put(text, "]%s\n", d->is_coded ? " scale=0.5 zero=3" : "");
}

static inline void put_numbers(Text *text, const IdleDrawing *d, uint32_t name, const uint32_t at[MOST_RANK]) {
    put(text, "const t%u %s[%u] =", (unsigned)name, d->family == TFLITE ? "int32" : "int64", (unsigned)d->rank);
    put_list(text, " ", at, d->rank, " ");
    put(text, "\n");
}

/* A parameter: `extent` numbers, with `units` axes of one behind them. */
static inline uint32_t put_vector(IdleDrawing *d, uint32_t extent, uint32_t units) {
    uint32_t name = d->names++;
    for (Which w = 0; w < TEXTS; w++) {
        put(d->text[w], "const t%u %s[%u", (unsigned)name, d->is_coded ? "int8" : "float32", (unsigned)extent);
        for (uint32_t k = 0; k < units; k++) {
            put(d->text[w], ",1");
        }
        put(d->text[w], "]%s =", d->is_coded ? " scale=0.25 zero=0" : "");
        for (uint32_t k = 0; k < extent; k++) {
            put(d->text[w], " %u", 1 + 3 * (unsigned)k);
        }
        put(d->text[w], "\n");
    }
    return name;
}

/* The next operator of the chain, in one text; it reads `more` behind the chain's value. */
static inline void put_node(const IdleDrawing *d, Which w, const char *op, uint32_t out, const char *more) {
    if (d->is_coded) {
        put_value(d->text[w], d, "value", out);
    }
    put(d->text[w], "node %s n%u: t%u%s -> t%u", op, (unsigned)out, (unsigned)d->now[w], more, (unsigned)out);
}

static inline void put_both(IdleDrawing *d, const char *op, const char *more, const char *words) {
    uint32_t out = d->names++;
    for (Which w = 0; w < TEXTS; w++) {
        put_node(d, w, op, out, more);
        put(d->text[w], "%s\n", words);
        d->now[w] = out;
    }
}

/* ---- Idle operators */

typedef enum { NOTHING, SHAPE, ONES, ORDER, WHOLE, ONE, MINUS_ZERO } Operand;

typedef struct {
    const char *op, *words;
    Operand operand;
    uint32_t rank; /* of this only; 0 for any */
    bool is_tflite, is_of_floats, has_perm;
} Idle;

static const Idle idles[] = {
    {.op = "Reshape", .operand = SHAPE},
    {.op = "Transpose", .has_perm = true},
    {.op = "Identity"},
    {.op = "Dropout", .is_of_floats = true},
    {.op = "Slice", .operand = WHOLE},
    {.op = "Expand", .operand = SHAPE},
    {.op = "Concat", .words = " axis=0"},
    {.op = "Tile", .operand = ONES},
    {.op = "Squeeze"},
    {.op = "Max", .is_of_floats = true},
    {.op = "Cast", .words = " to=1", .is_of_floats = true},
    {.op = "Mul", .operand = ONE, .is_of_floats = true},
    {.op = "Add", .operand = MINUS_ZERO, .is_of_floats = true},
    {.op = "Flatten", .words = " axis=1", .rank = 2},
    {.op = "Reshape(RESHAPE)", .operand = SHAPE, .is_tflite = true},
    {.op = "Transpose(TRANSPOSE)", .operand = ORDER, .is_tflite = true},
    {.op = "Squeeze(SQUEEZE)", .is_tflite = true},
};

/* `more` becomes what the node reads besides. */
static inline void put_operand(Text *text, const IdleDrawing *d, Operand operand, uint32_t name, char more[32]) {
    static const uint32_t ones[MOST_RANK] = {1, 1, 1, 1, 1, 1}, order[MOST_RANK] = {0, 1, 2, 3, 4, 5};
    snprintf(more, 32, " t%u", (unsigned)name);
    switch (operand) {
    case NOTHING:
        more[0] = '\0';
        break;
    case ONE:
    case MINUS_ZERO:
        put(text, "const t%u float32[] = %s\n", (unsigned)name, operand == ONE ? "1" : "-0.0");
        break;
    case WHOLE:
        put(text, "const t%u int64[1] = 0\nconst e%u int64[1] = 99\n", (unsigned)name, (unsigned)name);
        snprintf(more, 32, " t%u e%u", (unsigned)name, (unsigned)name);
        break;
    default:
        put_numbers(text, d, name, operand == SHAPE ? d->dim : operand == ONES ? ones : order);
        break;
    }
}

static inline void draw_idle(IdleDrawing *d) {
    static const uint32_t order[MOST_RANK] = {0, 1, 2, 3, 4, 5};
    Text *text = d->text[WITH_IDLE];
    const Idle *idle;
    do {
        idle = &idles[chance(d, sizeof idles / sizeof idles[0])];
    } while (idle->is_tflite != (d->family == TFLITE) || (idle->is_of_floats && d->is_coded) ||
             (idle->rank != 0 && idle->rank != d->rank));
    char more[32];
    uint32_t operand = d->names++, out = d->names++;
    put_operand(text, d, idle->operand, operand, more);
    put_node(d, WITH_IDLE, idle->op, out, more);
    if (idle->has_perm) {
        put_list(text, " perm=[", order, d->rank, ",");
        put(text, "]");
    }
    put(text, "%s\n", idle->words == NULL ? "" : idle->words);
    d->now[WITH_IDLE] = out;
    d->idle++;
}

/* ---- Operators that are none */

/* Extents in another order, which may be the same numbers. */
static inline void shuffle(IdleDrawing *d, uint32_t order[MOST_RANK]) {
    uint32_t old[MOST_RANK];
    memcpy(old, d->dim, sizeof old);
    for (uint32_t k = 0; k < d->rank; k++) {
        uint32_t other = chance(d, k + 1);
        order[k] = order[other];
        order[other] = k;
    }
    for (uint32_t k = 0; k < d->rank; k++) {
        d->dim[k] = old[order[k]];
    }
}

static inline void draw_move(IdleDrawing *d, bool is_reshape) {
    uint32_t order[MOST_RANK] = {0}, name = d->names++;
    char more[16] = "", words[64] = "";
    bool is_listed = is_reshape || d->family == TFLITE;
    shuffle(d, order);
    for (Which w = 0; w < TEXTS && is_listed; w++) {
        put_numbers(d->text[w], d, name, is_reshape ? d->dim : order);
        snprintf(more, sizeof more, " t%u", (unsigned)name);
    }
    for (uint32_t k = 0; k < d->rank && !is_listed; k++) {
        size_t used = strlen(words);
        snprintf(words + used, sizeof words - used, "%s%u%s", k == 0 ? " perm=[" : ",", (unsigned)order[k],
                 k + 1 == d->rank ? "]" : "");
    }
    const char *op = is_reshape ? "Reshape" : "Transpose";
    put_both(d, d->family != TFLITE ? op : is_reshape ? "Reshape(RESHAPE)" : "Transpose(TRANSPOSE)", more, words);
}

static inline void draw_affine(IdleDrawing *d) {
    char more[16];
    uint32_t axis = chance(d, d->rank), name = put_vector(d, d->dim[axis], d->rank - 1 - axis);
    snprintf(more, sizeof more, " t%u", (unsigned)name);
    put_both(d, chance(d, 2) == 0 ? "Mul" : "Add", more, "");
}

static inline void draw_norm(IdleDrawing *d) {
    char more[64];
    uint32_t a = put_vector(d, d->dim[1], 0), b = put_vector(d, d->dim[1], 0);
    snprintf(more, sizeof more, " t%u t%u t%u t%u", (unsigned)a, (unsigned)b, (unsigned)b, (unsigned)a);
    put_both(d, "BatchNormalization", more, " epsilon=0.001");
}

static inline void draw_convolution(IdleDrawing *d) {
    char more[16];
    uint32_t channels = d->dim[1], name = d->names++;
    for (Which w = 0; w < TEXTS; w++) {
        put(d->text[w], "const q%u int8[%u,%u,1,1] scale=0.5 zero=0 =", (unsigned)name, (unsigned)channels,
            (unsigned)channels);
        for (uint32_t k = 0; k < channels * channels; k++) {
            put(d->text[w], " %d", (int)(k % 3) - (int)(k % 2));
        }
        put(d->text[w], "\nnode DequantizeLinear w%u: q%u s z0 -> t%u\n", (unsigned)name, (unsigned)name,
            (unsigned)name);
    }
    snprintf(more, sizeof more, " t%u", (unsigned)name);
    put_both(d, "Conv", more, " kernel_shape=[1,1]");
}

/* Between Dequantize and Quantize; idle operators may stand on either side. */
static inline void draw_between_codes(IdleDrawing *d) {
    d->is_coded = false;
    put_both(d, "DequantizeLinear", " s z", "");
    if (chance(d, 2) == 0) {
        draw_idle(d);
    }
    uint32_t kind = d->rank == 4 ? chance(d, 4) : 3;
    if (kind == 0) {
        put_both(d, "AveragePool", "", " kernel_shape=[1,1]");
    } else if (kind == 1) {
        draw_convolution(d);
    } else if (kind == 2) {
        draw_norm(d);
    } else {
        draw_affine(d);
    }
    if (chance(d, 3) == 0) {
        draw_idle(d);
    }
    d->is_coded = true;
    put_both(d, "QuantizeLinear", " s z", "");
}

static inline void draw_operator(IdleDrawing *d) {
    uint32_t kind = chance(d, 8);
    if (kind < 2) {
        draw_move(d, kind == 0);
    } else if (d->family == CODES) {
        draw_between_codes(d);
    } else if (d->family == FLOATS && d->rank >= 2 && kind < 5) {
        draw_norm(d);
    } else {
        draw_affine(d);
    }
}

static inline void draw_model(IdleDrawing *d) {
    d->family = (Family)chance(d, FAMILIES);
    d->rank = d->family == CODES && chance(d, 2) == 0 ? 4 : 1 + chance(d, d->family == TFLITE ? 4 : MOST_RANK);
    d->is_coded = d->family != FLOATS;
    for (uint32_t k = 0; k < d->rank; k++) {
        d->dim[k] = 2 + chance(d, 4) / 3;
    }
    d->names = 1;
    for (Which w = 0; w < TEXTS; w++) {
        put(d->text[w], "stride0-graph 1\nformat %s\n", d->family == TFLITE ? "tflite" : "onnx 19");
        put_value(d->text[w], d, "input", 0);
        put(d->text[w], "const s float32[] = 0.5\nconst z int8[] = 3\nconst z0 int8[] = 0\n");
    }
    for (uint32_t k = 2 + chance(d, 4); k > 0; k--) {
        for (uint32_t idle = chance(d, 3); idle > 0; idle--) {
            draw_idle(d);
        }
        draw_operator(d);
    }
    if (d->idle == 0 || chance(d, 2) == 0) {
        draw_idle(d);
    }
    for (Which w = 0; w < TEXTS; w++) {
        put(d->text[w], "output t%u\n", (unsigned)d->now[w]);
    }
}

#endif
