/* Writes TFLite files for tests: a description in plain structs becomes a FlatBuffer, right or wrong as the test wants.
 *
 * Every field of a table has a cell of 8 bytes of its own, so that a slot's place is known without layout. Slots are
 * those of schema.fbs, TFLite schema version 3. What is not set is left out of the file. */
#ifndef TESTS_IMPORT_TFLITE_BUILD_H
#define TESTS_IMPORT_TFLITE_BUILD_H

#include "base/str.h"

#include <stdint.h>
#include <string.h>

enum { MOST = 10, FILE_MOST = 32768 };

typedef struct {
    uint32_t count;
    int32_t at[MOST];
} TestInts;

typedef struct {
    const char *name;
    uint8_t type, details;
    TestInts shape, signature;
    uint32_t buffer, external;
    bool has_rank, is_variable, is_sparse;
    uint32_t scale_count, zero_count;
    float scale[MOST];
    int64_t zero[MOST];
    int32_t axis;
} TestTensor;

typedef struct {
    uint8_t slot, bytes; /* bytes 0: `text` */
    uint64_t number;
    const char *text;
} TestOption;

typedef struct {
    uint32_t code;
    TestInts inputs, outputs;
    uint8_t options;
    uint32_t option_count;
    TestOption option[MOST];
    uint64_t large_offset, large_size;
} TestOperator;

typedef struct {
    const char *name;
    uint32_t tensor_count, operator_count;
    TestTensor tensor[MOST];
    TestOperator operator_[MOST];
    TestInts inputs, outputs;
} TestGraph;

typedef struct {
    uint32_t version, code_count, buffer_count, graph_count;
    struct {
        int8_t old;
        int32_t builtin, version;
        const char *custom;
    } code[MOST];
    struct {
        uint32_t bytes; /* of data inside; they count 1, 2, 3, … */
        uint64_t offset, size;
    } buffer[MOST];
    TestGraph graph[2];
} TestModel;

typedef struct {
    uint8_t bytes[FILE_MOST];
    size_t len;
} TestFile;

static inline void test_put(TestFile *file, size_t at, uint64_t number, size_t bytes) {
    for (size_t k = 0; k < bytes; k++) {
        file->bytes[at + k] = (uint8_t)(number >> (8 * k));
    }
}

/* A table of `slots` fields, all absent; where it begins. */
static inline size_t test_table(TestFile *file, size_t slots) {
    size_t vtable = file->len, at = vtable + 4 + 2 * slots;
    test_put(file, vtable, 4 + 2 * slots, 2);
    test_put(file, vtable + 2, 4 + 8 * slots, 2);
    test_put(file, at, at - vtable, 4);
    file->len = at + 4 + 8 * slots;
    return at;
}

/* Makes a field present; where its cell is. */
static inline size_t test_cell(TestFile *file, size_t table, size_t slot) {
    uint64_t back = 0;
    for (size_t k = 0; k < 4; k++) {
        back |= (uint64_t)file->bytes[table + k] << (8 * k);
    }
    test_put(file, table - (size_t)back + 4 + 2 * slot, 4 + 8 * slot, 2);
    return table + 4 + 8 * slot;
}

static inline void test_number(TestFile *file, size_t table, size_t slot, uint64_t number, size_t bytes) {
    test_put(file, test_cell(file, table, slot), number, bytes);
}

/* A table that the field names. */
static inline size_t test_child(TestFile *file, size_t table, size_t slot, size_t slots) {
    size_t cell = test_cell(file, table, slot);
    size_t child = test_table(file, slots);
    test_put(file, cell, child - cell, 4);
    return child;
}

/* A vector of `count` elements that the field names; where element 0 is. */
static inline size_t test_vector(TestFile *file, size_t table, size_t slot, uint32_t count, size_t bytes) {
    size_t cell = test_cell(file, table, slot);
    test_put(file, cell, file->len - cell, 4);
    test_put(file, file->len, count, 4);
    size_t at = file->len + 4;
    file->len = at + count * bytes;
    return at;
}

/* Table `k` of a vector whose element 0 is at `vector`. */
static inline size_t test_element(TestFile *file, size_t vector, size_t k, size_t slots) {
    size_t at = vector + 4 * k;
    size_t child = test_table(file, slots);
    test_put(file, at, child - at, 4);
    return child;
}

static inline void test_text(TestFile *file, size_t table, size_t slot, const char *text) {
    if (text != NULL) {
        size_t at = test_vector(file, table, slot, (uint32_t)strlen(text), 1);
        memcpy(file->bytes + at, text, strlen(text));
        file->len++;
    }
}

static inline void test_ints(TestFile *file, size_t table, size_t slot, const TestInts *ints) {
    size_t at = test_vector(file, table, slot, ints->count, 4);
    for (uint32_t k = 0; k < ints->count; k++) {
        test_put(file, at + 4 * k, (uint32_t)ints->at[k], 4);
    }
}

static inline void test_quant(TestFile *file, size_t tensor, const TestTensor *t) {
    if (t->scale_count == 0 && t->details == 0) {
        return;
    }
    size_t table = test_child(file, tensor, 4, 7);
    size_t at = test_vector(file, table, 2, t->scale_count, 4);
    for (uint32_t k = 0; k < t->scale_count; k++) {
        uint32_t bits;
        memcpy(&bits, &t->scale[k], sizeof bits);
        test_put(file, at + 4 * k, bits, 4);
    }
    at = test_vector(file, table, 3, t->zero_count, 8);
    for (uint32_t k = 0; k < t->zero_count; k++) {
        test_put(file, at + 8 * k, (uint64_t)t->zero[k], 8);
    }
    test_number(file, table, 4, t->details, 1);
    test_number(file, table, 6, (uint32_t)t->axis, 4);
}

static inline void test_tensor(TestFile *file, size_t table, const TestTensor *t) {
    test_ints(file, table, 0, &t->shape);
    test_number(file, table, 1, t->type, 1);
    test_number(file, table, 2, t->buffer, 4);
    test_text(file, table, 3, t->name);
    test_quant(file, table, t);
    test_number(file, table, 5, t->is_variable, 1);
    if (t->is_sparse) {
        test_child(file, table, 6, 3);
    }
    if (t->signature.count > 0) {
        test_ints(file, table, 7, &t->signature);
    }
    test_number(file, table, 8, t->has_rank, 1);
    test_number(file, table, 10, t->external, 4);
}

static inline void test_operator(TestFile *file, size_t table, const TestOperator *o) {
    test_number(file, table, 0, o->code, 4);
    test_ints(file, table, 1, &o->inputs);
    test_ints(file, table, 2, &o->outputs);
    test_number(file, table, 9, o->large_offset, 8);
    test_number(file, table, 10, o->large_size, 8);
    if (o->options == 0) {
        return;
    }
    test_number(file, table, 3, o->options, 1);
    size_t options = test_child(file, table, 4, MOST);
    for (uint32_t k = 0; k < o->option_count; k++) {
        if (o->option[k].bytes == 0) {
            test_text(file, options, o->option[k].slot, o->option[k].text);
        } else {
            test_number(file, options, o->option[k].slot, o->option[k].number, o->option[k].bytes);
        }
    }
}

static inline void test_graph(TestFile *file, size_t table, const TestGraph *graph) {
    size_t tensors = test_vector(file, table, 0, graph->tensor_count, 4);
    for (uint32_t k = 0; k < graph->tensor_count; k++) {
        test_tensor(file, test_element(file, tensors, k, 11), &graph->tensor[k]);
    }
    test_ints(file, table, 1, &graph->inputs);
    test_ints(file, table, 2, &graph->outputs);
    size_t operators = test_vector(file, table, 3, graph->operator_count, 4);
    for (uint32_t k = 0; k < graph->operator_count; k++) {
        test_operator(file, test_element(file, operators, k, 13), &graph->operator_[k]);
    }
    test_text(file, table, 4, graph->name);
}

static inline void test_buffers(TestFile *file, size_t root, const TestModel *model) {
    size_t buffers = test_vector(file, root, 4, model->buffer_count, 4);
    for (uint32_t k = 0; k < model->buffer_count; k++) {
        size_t buffer = test_element(file, buffers, k, 3);
        test_number(file, buffer, 1, model->buffer[k].offset, 8);
        test_number(file, buffer, 2, model->buffer[k].size, 8);
        size_t data = test_vector(file, buffer, 0, model->buffer[k].bytes, 1);
        for (uint32_t i = 0; i < model->buffer[k].bytes; i++) {
            file->bytes[data + i] = (uint8_t)(i + 1);
        }
    }
}

static inline void test_write(TestFile *file, const TestModel *model) {
    memset(file, 0, sizeof *file);
    memcpy(file->bytes + 4, "TFL3", 4);
    file->len = 8;
    size_t root = test_table(file, 8);
    test_put(file, 0, root, 4);
    test_number(file, root, 0, model->version, 4);
    size_t codes = test_vector(file, root, 1, model->code_count, 4);
    for (uint32_t k = 0; k < model->code_count; k++) {
        size_t code = test_element(file, codes, k, 4);
        test_number(file, code, 0, (uint8_t)model->code[k].old, 1);
        test_text(file, code, 1, model->code[k].custom);
        test_number(file, code, 2, (uint32_t)model->code[k].version, 4);
        test_number(file, code, 3, (uint32_t)model->code[k].builtin, 4);
    }
    size_t graphs = test_vector(file, root, 2, model->graph_count, 4);
    for (uint32_t k = 0; k < model->graph_count; k++) {
        test_graph(file, test_element(file, graphs, k, 6), &model->graph[k]);
    }
    test_buffers(file, root, model);
}

#endif
