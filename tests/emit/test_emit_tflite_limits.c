/* Proves what happens where a TFLite file can't be moved or not be edited: fields that the schema does not have are
 * kept and nothing moves; data behind the FlatBuffer, a plan of memory, and parts that overlap or are shared are
 * refused. What is named from so many places that the reader's budget of work counts is edited, or refused in time. */
#include "emit/tflite_case.h"

/* Gives the root a field that the schema does not have: the second half of its version's cell of 8 bytes. */
static void add_unknown_field(Case *c) {
    Flatbuf flat;
    FlatTable root = root_of(file_span(c), &flat);
    enum { SLOTS = 11, BYTES = 4 + 2 * SLOTS };
    size_t vtable = c->file.len;
    memcpy(c->file.bytes + vtable, c->file.bytes + root.vtable, root.vtable_bytes);
    test_put(&c->file, vtable, BYTES, 2);
    test_put(&c->file, vtable + 4 + 2 * (SLOTS - 1), 8, 2);
    test_put(&c->file, root.at + 8, 0x12345678, 4);
    test_put(&c->file, root.at, (uint64_t)((int64_t)root.at - (int64_t)vtable), 4);
    c->file.len += BYTES;
}

static void test_unknown_field(void **state) {
    static Case c;
    TestModel model = chain();
    Flatbuf flat;
    (void)state;
    start(&c, &model);
    add_unknown_field(&c);
    start_draft(&c);
    assert_true(draft_bypass(&c.draft, 1));
    draft_add_constant(&c.draft, "new", DTYPE_I8, row(), 50); /* in the place of what was dropped */
    emit(&c);
    assert_values(&c, "x a small y new");
    assert_int_equal(c.got->values[4].constant->bytes.ptr[3], 53);
    assert_true(c.out.len >= c.file.len);
    FlatTable root = root_of(c.out, &flat);
    assert_int_equal(flat_int(&flat, &root, 10, FLAT_U32, 0), 0x12345678);
    finish(&c);

    start(&c, &model);
    add_unknown_field(&c);
    start_draft(&c);
    draft_add_constant(&c.draft, "new", DTYPE_I8, row(), 50);
    size_t root_at = root_of(file_span(&c), &flat).at;
    const char *field = arena_text(&c.again.keep, "field 10 of the table at byte %zu", root_at);
    assert_false(emit_tflite(draft_done(&c.draft), file_span(&c), &c.work, &c.out));
    assert_int_equal(c.work.diags.count[DIAG_REFUSED], 1);
    assert_string_equal(c.work.diags.first->text.what,
                        "the file has fields that are not known, so nothing in it can be moved");
    assert_string_equal(c.work.diags.first->text.got, field);
    finish(&c);
}

static void test_refusals(void **state) {
    static Case c;
    TestModel model = chain();
    Flatbuf flat;
    size_t cell;
    (void)state;

    model.buffer[3].offset = 100; /* data behind the FlatBuffer: fine as long as nothing is edited */
    start(&c, &model);
    start_draft(&c);
    emit(&c);
    draft_bypass(&c.draft, 1);
    refused(&c, "the file keeps data behind its FlatBuffer, where an edit can't move it");

    model = chain();
    start(&c, &model);
    FlatTable root = root_of(file_span(&c), &flat);
    size_t metadata = test_element(&c.file, test_vector(&c.file, root.at, ROOT_METADATA, 1, 4), 0, 2);
    test_text(&c.file, metadata, METADATA_NAME, "OfflineMemoryAllocation");
    start_draft(&c);
    draft_bypass(&c.draft, 1);
    refused(&c, "the file holds a plan of memory (OfflineMemoryAllocation) that names tensors by number");

    model.graph[0].operator_[2].inputs = (TestInts){3, {1, 2, 4}};
    start(&c, &model); /* the inputs of ADD begin inside those of MUL: a 1, then a 2 */
    FlatTable add = operator_of(file_span(&c), &flat, 1), mul = operator_of(file_span(&c), &flat, 2);
    FlatVector list = flat_vector(&flat, &mul, OPERATOR_INPUTS, 4);
    assert_true(flat_cell(&flat, &add, OPERATOR_INPUTS, 4, &cell));
    test_put(&c.file, cell, list.at - cell, 4);
    start_draft(&c);
    draft_rewire(&c.draft, 2, 0, (ValueId){2});
    refused(&c, "parts of the file overlap");

    model = chain();
    start(&c, &model); /* operators 0 and 1 of subgraph 0 are two names of one table */
    FlatTable main = main_of(file_span(&c), &flat);
    FlatVector operators = flat_tables(&flat, &main, SUBGRAPH_OPERATORS);
    FlatTable relu = operator_of(file_span(&c), &flat, 0);
    FlatVector outputs = flat_vector(&flat, &relu, OPERATOR_OUTPUTS, 4);
    test_put(&c.file, outputs.at - 4, 0, 4);
    test_put(&c.file, operators.at + 4, relu.at - operators.at - 4, 4);
    start_draft(&c);
    draft_rewire(&c.draft, 0, 0, (ValueId){2});
    refused(&c, "two parts of the file share an object that would have to differ");
}

/* Operators without inputs or outputs behind those of the file, all with one list of intermediates: tables of a cell.
 */
static void add_operators(Case *c, const TestModel *model, uint32_t more, uint32_t intermediates) {
    enum { SLOTS = OPERATOR_INTERMEDIATES + 1, CELL = 4 };
    Flatbuf flat;
    const TestGraph *graph = &model->graph[0];
    FlatTable main = main_of(file_span(c), &flat);
    size_t operators = test_vector(&c->file, main.at, SUBGRAPH_OPERATORS, graph->operator_count + more, 4);
    for (uint32_t k = 0; k < graph->operator_count; k++) {
        test_operator(&c->file, test_element(&c->file, operators, k, 13), &graph->operator_[k]);
    }
    size_t vtable = c->file.len, tables = vtable + 4 + 2 * SLOTS;
    size_t list = tables + (size_t)more * (4 + CELL);
    test_put(&c->file, vtable, 4 + 2 * SLOTS, 2);
    test_put(&c->file, vtable + 2, 4 + CELL, 2);
    test_put(&c->file, vtable + 4 + 2 * OPERATOR_INTERMEDIATES, 4, 2);
    for (uint32_t k = 0; k < more; k++) {
        size_t table = tables + (size_t)k * (4 + CELL), at = operators + 4 * (graph->operator_count + k);
        test_put(&c->file, at, table - at, 4);
        test_put(&c->file, table, table - vtable, 4);
        test_put(&c->file, table + 4, list - table - 4, 4);
    }
    test_put(&c->file, list, intermediates, 4);
    c->file.len = list + 4 + 4 * (size_t)intermediates;
}

/* A hundred operators name a list of 6000 bytes: to read it once for each is more than half of a budget. */
static void test_shared_list(void **state) {
    static Case c;
    TestModel model = chain();
    (void)state;
    memset(&c, 0, sizeof c);
    start(&c, &model);
    add_operators(&c, &model, 100, 1500);
    start_draft(&c);
    assert_true(draft_bypass(&c.draft, 1));
    assert_true(emit_tflite(draft_done(&c.draft), file_span(&c), &c.work, &c.out));
    c.got = import_tflite(&c.again, c.out, "edited", NULL);
    assert_non_null(c.got);
    assert_values(&c, "x a small y");
    assert_int_equal(graph_main(c.got)->node_count, 102);
    finish(&c);
}

/* A table of no fields, whose list says so of 4000, is named 1500 times. */
static void test_long_field_list(void **state) {
    enum { SLOTS = 4000, NAMES = 1500 };
    static Case c;
    TestModel model = chain();
    Flatbuf flat;
    (void)state;
    memset(&c, 0, sizeof c);
    start(&c, &model);
    size_t names = test_vector(&c.file, root_of(file_span(&c), &flat).at, ROOT_METADATA, NAMES, 4);
    size_t table = c.file.len + 4 + 2 * SLOTS;
    test_put(&c.file, c.file.len, 4 + 2 * SLOTS, 2);
    test_put(&c.file, c.file.len + 2, 4, 2);
    test_put(&c.file, table, table - c.file.len, 4);
    c.file.len = table + 4;
    for (size_t k = 0; k < NAMES; k++) {
        test_put(&c.file, names + 4 * k, table - names - 4 * k, 4);
    }
    start_draft(&c);
    assert_true(draft_bypass(&c.draft, 1));
    assert_false(emit_tflite(draft_done(&c.draft), file_span(&c), &c.work, &c.out));
    assert_string_equal(c.work.diags.first->text.what, "the file names the same bytes from too many places");
    finish(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown_field),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_shared_list),
        cmocka_unit_test(test_long_field_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
