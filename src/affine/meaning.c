/* What ONNX's codes stand for, as whoever reads the rewritten file will see it.
 *
 * No field of the file says it: it is the word of the first operator that is given a scale for them, their producer's
 * before any reader's. Where that operator goes, or is given another scale, the next one's word counts. */
#include "affine/coded.h"
#include "layout/packed.h"

#include <math.h>
#include <string.h>

/* Does the operator say what the codes that it reads or writes stand for? */
static bool says_codes(const Node *node) {
    switch (node->op) {
    case OP_QUANTIZE:
    case OP_DEQUANTIZE:
    case OP_QLINEAR_CONV:
    case OP_QLINEAR_MATMUL:
    case OP_QLINEAR_ADD:
    case OP_QLINEAR_MUL:
    case OP_QLINEAR_CONCAT:
    case OP_QLINEAR_AVERAGE_POOL:
    case OP_QLINEAR_GLOBAL_AVERAGE_POOL:
    case OP_QLINEAR_LEAKY_RELU:
    case OP_QLINEAR_SIGMOID:
    case OP_MATMUL_INTEGER_TO_FLOAT:
        return true;
    default:
        return false;
    }
}

/* The Dequantize whose word counts; null where it is another operator's, or nobody says anything. */
static const Node *first_to_say(const Rewriter *rw, ValueId id) {
    NodeId producer = graph_value(rw->graph, id)->producer;
    if (is_node(producer) && says_codes(graph_node(rw->graph, producer))) {
        return NULL;
    }
    for (uint32_t u = rw->uses.first[id.index]; u < rw->uses.first[id.index + 1]; u++) {
        const Node *reader = graph_node(rw->graph, rw->uses.use[u]);
        if (!rw->is_gone[rw->uses.use[u].index] && says_codes(reader)) {
            bool is_one = reader->op == OP_DEQUANTIZE && reader->inputs[0].index == id.index;
            return is_one ? reader : NULL;
        }
    }
    return NULL;
}

/* Elements of a constant along one axis; 0 where it is none, or its bytes are not known. */
static uint64_t count_of(const Value *value) {
    uint64_t count = 0;
    bool is_stored = value->constant != NULL && value->constant->is_known && value->shape.rank <= 1 &&
                     shape_elements(&value->shape, &count);
    return is_stored && count <= UINT32_MAX ? count : 0;
}

static uint64_t bits_at(const Value *value, uint32_t k) {
    uint64_t stored = 0;
    (void)shape_elements(&value->constant->stored, &stored);
    return packed_read(value->constant->bytes.ptr, stored == 1 ? 0 : k, dtype_bits(value->dtype));
}

static const float *floats_of(const Value *value, uint32_t count, Arena *keep) {
    float *at = arena_array(keep, float, count);
    for (uint32_t k = 0; k < count; k++) {
        at[k] = (float)dtype_float(value->dtype, bits_at(value, k));
    }
    return at;
}

static const int64_t *codes_of(const Value *value, uint32_t count, Arena *keep) {
    int64_t *at = arena_array(keep, int64_t, count);
    int64_t half = (int64_t)1 << (dtype_bits(value->dtype) - 1);
    for (uint32_t k = 0; k < count; k++) {
        int64_t code = (int64_t)bits_at(value, k);
        at[k] = dtype_kind(value->dtype) == DTYPE_KIND_SIGNED && code >= half ? code - 2 * half : code;
    }
    return at;
}

static bool are_scales(const float *scale, uint32_t count) {
    for (uint32_t k = 0; k < count; k++) {
        if (!isfinite(scale[k]) || scale[k] < 0) {
            return false;
        }
    }
    return true;
}

/* False where its scale or zero point is not stored, or no scale of codes: then nothing is known anew. */
static bool read_word(const Rewriter *rw, const Node *coder, const Value *coded, Quant *quant) {
    Arena *scratch = &rw->work->scratch;
    const Value *scale = node_input(rw->graph, coder, 1), *zero = node_input(rw->graph, coder, 2);
    uint64_t count = scale == NULL || scale->dtype != DTYPE_F32 ? 0 : count_of(scale);
    if (count == 0 || (zero != NULL && (zero->dtype != coded->dtype || count_of(zero) != count)) ||
        node_int(coder, "block_size", 0) != 0) {
        return false;
    }
    int64_t axis = node_int(coder, "axis", 1);
    axis += axis < 0 ? (int64_t)coded->shape.rank : 0;
    *quant = (Quant){.count = (uint32_t)count, .axis = count == 1 ? -1 : (int32_t)axis};
    quant->scale = floats_of(scale, quant->count, scratch);
    quant->zero_point = zero == NULL ? NULL : codes_of(zero, quant->count, scratch);
    return are_scales(quant->scale, quant->count);
}

static const Quant *kept(const Quant *word, Arena *keep) {
    Quant *quant = arena_new(keep, Quant);
    float *scale = arena_array(keep, float, word->count);
    int64_t *zero = arena_array(keep, int64_t, word->count);
    memcpy(scale, word->scale, word->count * sizeof *scale);
    if (word->zero_point != NULL) {
        memcpy(zero, word->zero_point, word->count * sizeof *zero);
    }
    *quant = *word;
    quant->scale = scale;
    quant->zero_point = zero;
    return quant;
}

static bool is_code(DType dtype) {
    DTypeKind kind = dtype_kind(dtype);
    return (kind == DTYPE_KIND_SIGNED || kind == DTYPE_KIND_UNSIGNED) && dtype_bits(dtype) <= 32;
}

void meaning_refresh(Rewriter *rw) {
    for (uint32_t v = 0; rw->graph->format == FORMAT_ONNX && v < rw->use_values; v++) {
        Value *value = graph_value(rw->graph, (ValueId){v});
        const Node *coder = value->constant == NULL && is_code(value->dtype) ? first_to_say(rw, (ValueId){v}) : NULL;
        Quant word;
        if (coder != NULL && read_word(rw, coder, value, &word) && !quant_eq(&word, value->quant)) {
            value->quant = kept(&word, &rw->work->keep);
        }
    }
}
