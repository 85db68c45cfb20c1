/* TFLite: the options of new operators, from the attributes that the importer would read from them: the table of both
 * is import/tflite_options.def. */
#include "emit/tflite.h"

#include "base/fault.h"
#include "import/tflite_options.h"

#include <string.h>

enum { MOST_SLOTS = 16 };

/* The operators that can be new, and their member of BuiltinOptions. */
static uint8_t member_of(OpId op) {
    static const struct {
        OpId op;
        uint8_t member;
    } members[] = {{OP_CONV, 1},     {OP_DEPTHWISE_CONV, 2}, {OP_FULLY_CONNECTED, 8}, {OP_ADD, 11},
                   {OP_RESHAPE, 17}, {OP_MUL, 21},           {OP_QUANTIZE, 89}};
    for (size_t k = 0; k < sizeof members / sizeof members[0]; k++) {
        if (members[k].op == op) {
            return members[k].member;
        }
    }
    fault(__FILE__, __LINE__, "every operator that can be new has options");
}

/* Of a field, for the forms that these operators have. */
static uint8_t form_bytes(uint8_t form) {
    static const uint8_t bytes[FORM_COUNT] = {
        [FORM_INT] = 4,  [FORM_EACH] = 4,    [FORM_INTS] = FLAT_REF_BYTES, [FORM_BYTE] = 1,
        [FORM_BOOL] = 1, [FORM_PADDING] = 1, [FORM_ACTIVATION] = 1};
    CHECK(bytes[form] > 0);
    return bytes[form];
}

static uint8_t find_word(const char *const *words, uint8_t count, Str word) {
    uint8_t k = 0;
    while (k < count && !str_eq(str_from(words[k]), word)) {
        k++;
    }
    CHECK(k < count);
    return k;
}

static uint8_t padding_of(const Node *node) {
    static const char *const words[] = {"SAME_UPPER", "VALID"};
    return find_word(words, 2, node_str(node, "auto_pad"));
}

static uint8_t activation_of(const Node *node) {
    static const char *const words[] = {"", "RELU", "RELU_N1_TO_1", "RELU6", "TANH", "SIGN_BIT"};
    return find_word(words, 6, node_str(node, "activation"));
}

static void set_each(FlatImage *image, size_t table, const TfliteOption *option, const Attr *attr) {
    for (uint32_t k = 0; k < TFLITE_OPTION_SLOTS && option->slot[k] >= 0; k++) {
        bool is_given = attr != NULL && attr->kind == ATTR_INTS && k < attr->count;
        int64_t number = is_given ? attr->ints[k] : option->absent;
        emit_set_field(image, table, (uint32_t)option->slot[k], (uint64_t)number, 4);
    }
}

static void set_ints(FlatImage *image, size_t at, const Attr *attr) {
    uint32_t count = attr->kind == ATTR_INTS ? attr->count : 0;
    size_t element = emit_add_vector(image, at, count, 4, 4);
    for (uint32_t k = 0; k < count; k++) {
        emit_set(image, element + (size_t)k * 4, (uint64_t)attr->ints[k], 4);
    }
}

static void set_option(FlatImage *image, size_t table, const TfliteOption *option, const Node *node) {
    const Attr *attr = node_attr(node, option->name);
    uint32_t slot = (uint32_t)option->slot[0];
    switch (option->form) {
    case FORM_EACH:
        set_each(image, table, option, attr);
        break;
    case FORM_INTS:
        if (attr != NULL) {
            set_ints(image, emit_field(image, table, slot), attr);
        }
        break;
    case FORM_PADDING:
        emit_set_field(image, table, slot, padding_of(node), 1);
        break;
    case FORM_ACTIVATION:
        emit_set_field(image, table, slot, activation_of(node), 1);
        break;
    default:
        emit_set_field(image, table, slot, (uint64_t)node_int(node, option->name, option->absent),
                       form_bytes(option->form));
        break;
    }
}

/* A cell for each slot that a row names; a vector without its attribute has none. */
static uint32_t cells_of(uint8_t member, const Node *node, uint8_t *bytes) {
    uint32_t slots = 0;
    for (uint32_t k = 0; k < tflite_option_count; k++) {
        const TfliteOption *option = &tflite_options[k];
        for (uint32_t s = 0; s < TFLITE_OPTION_SLOTS && option->table == member && option->slot[s] >= 0; s++) {
            uint32_t slot = (uint32_t)option->slot[s];
            bool is_absent = option->form == FORM_INTS && node_attr(node, option->name) == NULL;
            CHECK(slot < MOST_SLOTS);
            bytes[slot] = is_absent ? 0 : form_bytes(option->form);
            slots = slot >= slots ? slot + 1 : slots;
        }
    }
    return slots;
}

uint8_t emit_add_options(FlatImage *image, const Node *node, size_t *table) {
    uint8_t bytes[MOST_SLOTS] = {0};
    uint8_t member = member_of(node->op);
    uint32_t slots = cells_of(member, node, bytes);
    *table = emit_add_table(image, bytes, slots);
    for (uint32_t k = 0; k < tflite_option_count; k++) {
        if (tflite_options[k].table == member) {
            set_option(image, *table, &tflite_options[k], node);
        }
    }
    return member;
}
