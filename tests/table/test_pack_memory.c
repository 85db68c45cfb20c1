/* Proves: where memory runs out, at whichever allocation between the bytes of a table and the table that is written,
 * control leaves by the one way out, and everything is given back. */
#include "banks/banks.h"
#include "support/allocator.h"
#include "support/work.h"
#include "table/storage.h"

/* Rows with all that a table can have, more than fill one block of an arena. */
static Str write_table(Arena *arena) {
    enum { ROWS = 40 };
    const char *text = "id,lower,upper,size,alignment,gaps,offset,memory,share,apart\n";
    for (int i = 0; i < ROWS; i++) {
        text = arena_text(arena, "%s\"b \"\"%d\"\"\",%d,%d,%d,%d,%d-%d,%s,%s,%s,%s\n", text, i, i, i + 9, 100 + i * 7,
                          1 << i % 4, i + 2, i + 4, i == 3 ? "8" : "", i % 5 == 0 ? "near" : "",
                          i % 7 == 1 ? "one" : "", i % 6 == 2 ? "far from it" : "");
    }
    return str_from(text);
}

static void pack_all(Str text, Work *work, FILE *out) {
    Table table;
    Storages storages;
    BanksResult result;
    const Bank bank[] = {{1 << 20, 1, 0}, {UINT64_MAX, 4, 1}};
    assert_true(table_read(&table, text, work));
    assert_true(storages_make(&table, work, &storages));
    BanksProblem problem = {.bank = bank,
                            .bank_count = 2,
                            .buffer = storages.buffer,
                            .where = arena_array(&work->keep, uint32_t, storages.count),
                            .count = storages.count,
                            .options = {.is_minimised = true, .most_nodes = 20, .threads = 1}};
    for (size_t s = 0; s < storages.count; s++) {
        problem.where[s] = storages.memory[s] == 0 ? BANK_ANY : 0;
    }
    assert_true(banks_run(&problem, &work->keep, &work->scratch, &result));
    uint64_t *offset = arena_array(&work->keep, uint64_t, table.count);
    for (size_t k = 0; k < table.count; k++) {
        offset[k] = storages.buffer[storages.of_row[k]].offset;
    }
    table_write(&table, offset, NULL, &work->scratch, out);
}

/* True if memory sufficed. */
static bool pack_with(CountingAllocator *counter, Str text, FILE *out) {
    s0_allocator allocator = counting_allocator(counter);
    Work work;
    work_init(&work, &allocator);
    if (setjmp(work.escape) != 0) {
        work_free(&work);
        return false;
    }
    pack_all(text, &work, out);
    work_free(&work);
    return true;
}

static void test_memory_runs_out(Work *work) {
    const Str text = write_table(&work->keep);
    size_t fail_at = 0;
    bool enough = false;
    while (!enough) {
        CountingAllocator counter = {.fail_at = ++fail_at};
        FILE *out = tmpfile();
        assert_non_null(out);
        enough = pack_with(&counter, text, out);
        fclose(out);
        assert_int_equal(counter.live_bytes, 0);
        assert_false(counter.told_wrong_size);
    }
    print_message("%zu allocations failed in turn\n", fail_at - 1);
    assert_true(fail_at > 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {WORK_TEST(test_memory_runs_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
