/* Operators: look-ups in the table of ops.def and the further names of op_alias.def.
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

static const struct {
    const char *domain, *name;
    OpId op;
} aliases[] = {
#define ALIAS(domain, name, id) {domain, name, OP_##id},
#define TFLITE_ALIAS(builtin, id)
#include "graph/op_alias.def"
#undef ALIAS
#undef TFLITE_ALIAS
};

static const struct {
    int32_t builtin;
    OpId op;
} tflite_aliases[] = {
#define ALIAS(domain, name, id)
#define TFLITE_ALIAS(builtin, id) {builtin, OP_##id},
#include "graph/op_alias.def"
#undef ALIAS
#undef TFLITE_ALIAS
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
    for (size_t k = 0; k < sizeof aliases / sizeof aliases[0]; k++) {
        if (str_eq(str_from(aliases[k].name), name) && str_eq(str_from(aliases[k].domain), domain)) {
            return aliases[k].op;
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
    for (size_t k = 0; k < sizeof tflite_aliases / sizeof tflite_aliases[0]; k++) {
        if (tflite_aliases[k].builtin == builtin) {
            return tflite_aliases[k].op;
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
