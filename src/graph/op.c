/* Operators: look-ups in the table of ops.def.
 *
 * Finding by name goes through an array of name lengths first: a scan of a few hundred bytes leaves a dozen rows whose
 * text is compared, which needs no index to build and none to keep. */
#include "graph/op.h"

#include <string.h>

static const OpInfo table[OP_COUNT] = {
    [OP_NONE] = {"", "", -1, KIND_OPAQUE, "x", 0},
#define OP(id, name, domain, tflite, kind, inputs, infer, flags)                                                       \
    [OP_##id] = {name, domain, tflite, KIND_##kind, inputs, flags},
#include "graph/ops.def"
#undef OP
};

static const uint8_t name_len[OP_COUNT] = {
#define OP(id, name, domain, tflite, kind, inputs, infer, flags) [OP_##id] = sizeof(name) - 1,
#include "graph/ops.def"
#undef OP
};

const OpInfo *op_info(OpId op) {
    return &table[op];
}

OpId op_find(Str domain, Str name) {
    if (str_eq(domain, STR("ai.onnx"))) {
        domain = STR("");
    }
    for (int op = OP_NONE + 1; op < OP_COUNT; op++) {
        if (name_len[op] == name.len && memcmp(table[op].name, name.ptr, name.len) == 0 &&
            str_eq(str_from(table[op].domain), domain)) {
            return (OpId)op;
        }
    }
    return OP_NONE;
}

OpId op_find_tflite(int64_t builtin) {
    for (int op = OP_NONE + 1; builtin >= 0 && op < OP_COUNT; op++) {
        if (table[op].tflite == builtin) {
            return (OpId)op;
        }
    }
    return OP_NONE;
}

char op_input_role(OpId op, uint32_t input) {
    const char *roles = table[op].inputs;
    size_t last = strlen(roles);
    if (last == 0) {
        return 'x';
    }
    return roles[input < last ? input : last - 1];
}
