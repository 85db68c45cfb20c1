/* TFLite: whether the file says more of a tensor or an operator than the schema that is known here. A later field may
 * change what all the others mean. */
#include "import/tflite.h"

#include <string.h>

/* A character for each slot; null where there is no such table. */
static const char *slots_of(char letter, int64_t number) {
    static const struct {
        char letter;
        uint8_t number;
        const char *slots;
    } rows[] = {
#define TABLE(letter, number, slots) {letter, number, slots},
#include "import/tflite_schema.def"
#undef TABLE
    };
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        if (rows[k].letter == letter && rows[k].number == number) {
            return rows[k].slots;
        }
    }
    return NULL;
}

bool tflite_has_unknown(Tflite *model, const FlatTable *table, char letter, int64_t number) {
    const char *slots = slots_of(letter, number);
    if (table->bytes == 0) {
        return false;
    }
    if (slots == NULL) {
        return true;
    }
    for (uint32_t slot = (uint32_t)strlen(slots); slot < table->vtable_bytes / 2 - 2; slot++) {
        if (flat_has(&model->flat, table, slot)) {
            return true;
        }
    }
    return false;
}

bool tflite_is_opaque_tensor(Tflite *model, const FlatTable *tensor) {
    Flatbuf *flat = &model->flat;
    FlatTable quant = flat_table(flat, tensor, TENSOR_QUANTIZATION);
    int64_t index = flat_int(flat, tensor, TENSOR_BUFFER, FLAT_U32, 0);
    FlatTable buffer =
        index < model->buffers.count ? flat_table_at(flat, &model->buffers, (uint32_t)index) : (FlatTable){0};
    return tflite_has_unknown(model, tensor, 't', 0) || tflite_has_unknown(model, &quant, 'q', 0) ||
           tflite_has_unknown(model, &buffer, 'b', 0);
}

bool tflite_is_opaque_operator(Tflite *model, const FlatTable *operator_) {
    Flatbuf *flat = &model->flat;
    FlatTable options = flat_table(flat, operator_, OPERATOR_OPTIONS);
    FlatTable second = flat_table(flat, operator_, OPERATOR_OPTIONS_2);
    return tflite_has_unknown(model, operator_, 'o', 0) ||
           tflite_has_unknown(model, &options, '+', flat_int(flat, operator_, OPERATOR_OPTIONS_TYPE, FLAT_U8, 0)) ||
           tflite_has_unknown(model, &second, '&', flat_int(flat, operator_, OPERATOR_OPTIONS_2_TYPE, FLAT_U8, 0));
}
