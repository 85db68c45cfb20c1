/* Proves: rows that share become one storage, with the sum of what each of them needs; rows that contradict each other
 * are told by line. */
#include "support/work.h"
#include "table/storage.h"

#include <inttypes.h>

#define HEAD "id,lower,upper,size,alignment,gaps,offset,memory,share,apart\n"

/* Each as SIZE%ALIGN [first,last) -gaps @offset in memory apart group, then the storages of the rows. */
static const char *tell(const Table *table, const Storages *storages, Arena *arena) {
    const char *text = "";
    for (size_t s = 0; s < storages->count; s++) {
        const SolverBuffer *buffer = &storages->buffer[s];
        text = arena_text(arena, "%s%" PRIu64 "%%%" PRIu64 " [%" PRIu64 ",%" PRIu64 ")", text, buffer->size,
                          buffer->align, buffer->first, buffer->last);
        for (size_t k = 0; k < buffer->gap_count; k++) {
            text = arena_text(arena, "%s -[%" PRIu64 ",%" PRIu64 ")", text, buffer->gap[k].first, buffer->gap[k].last);
        }
        text = buffer->is_pinned ? arena_text(arena, "%s @%" PRIu64, text, buffer->offset) : text;
        text = storages->memory[s] > 0
                   ? arena_text(arena, "%s in " STR_FMT, text, STR_ARG(table->memory[storages->memory[s]]))
                   : text;
        text = buffer->apart > 0 ? arena_text(arena, "%s apart %" PRIu32, text, buffer->apart) : text;
        text = arena_text(arena, "%s;", text);
    }
    for (size_t k = 0; k < table->count; k++) {
        text = arena_text(arena, "%s %zu", text, storages->of_row[k]);
    }
    return text;
}

static const struct {
    const char *rows, *told;
} GOOD[] = {
    {"", ""},
    {"a,0,3,4,,,,,,\nb,1,2,5,2,,6,m,,x\n", "4%1 [0,3);5%2 [1,2) @6 in m apart 1; 0 1"},
    {"a,0,3,4,,,,,s,\nb,1,2,5,,,,,s,\n", "5%1 [0,3); 0 0"},
    {"a,0,3,4,6,,,,s,\nb,0,9,1,,,,,,\nc,5,8,5,4,,,,s,\n", "5%12 [0,8) -[3,5);1%1 [0,9); 0 1 0"},
    {"a,7,9,4,,,,,s,\nb,0,2,4,,,,,s,\nc,2,3,4,,,,,s,\n", "4%1 [0,9) -[3,7); 0 0 0"},
    {"a,0,9,4,,2-7,,,s,\nb,3,5,4,,,,,s,\n", "4%1 [0,9) -[2,3) -[5,7); 0 0"},
    {"a,0,9,4,,2-7,,,s,\nb,1,8,4,,,,,s,\n", "4%1 [0,9); 0 0"},
    {"a,0,1,4,,,,,s,\nb,1,2,4,,,8,,s,\nc,2,3,4,,,8,m,s,\nd,3,4,4,,,,,s,x\n", "4%1 [0,4) @8 in m apart 1; 0 0 0 0"},
    {"a,0,1,4,,,,,s,\nb,1,2,4,,,,,t,\nc,2,3,4,,,,,t,\nd,3,4,4,,,,,s,\n", "4%1 [0,4) -[1,3);4%1 [1,3); 0 1 1 0"},
};

static const struct {
    const char *rows, *place, *what, *expected;
} BAD[] = {
    {"a,0,1,4,,,,,s,\nb,0,1,4,,,0,,s,\nc,0,1,4,,,8,,s,\n", "line 4", "two offsets", "0 as line 3 has"},
    {"a,0,1,4,,,,m,s,\nb,0,1,4,,,,n,s,\n", "line 3", "two memories", "'m', as line 2 has"},
    {"a,0,1,4,,,,,s,\nb,0,1,4,,,,m,s,\nc,0,1,4,,,,n,s,\n", "line 4", "two memories", "'m', as line 3 has"},
    {"a,0,1,4,,,,,s,x\nb,0,1,4,,,,,s,x\n", "line 3", "share a storage and must lie apart", NULL},
    {"a,0,1,4,,,,,s,x\nb,0,1,4,,,,,s,y\n", "line 3", "in one group only", NULL},
    {"a,0,1,4,,,4,,s,\nb,0,1,4,8,,,,s,\n", "line 2", "not aligned for all rows", "a multiple of 8"},
    {"a,0,1,4,18446744073709551615,,,,s,\nb,0,1,4,2,,,,s,\n", "line 3", "no common multiple", NULL},
};

static bool read(const char *rows, Work *work, Table *table, Storages *storages) {
    work->diags = (Diags){.arena = &work->keep};
    assert_true(table_read(table, str_from(arena_text(&work->keep, HEAD "%s", rows)), work));
    return storages_make(table, work, storages);
}

static void test_good(Work *work) {
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++) {
        Table table;
        Storages storages;
        assert_true(read(GOOD[i].rows, work, &table, &storages));
        assert_string_equal(tell(&table, &storages, &work->keep), GOOD[i].told);
    }
}

static void test_bad(Work *work) {
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        Table table;
        Storages storages;
        assert_false(read(BAD[i].rows, work, &table, &storages));
        assert_int_equal(work->diags.count[DIAG_ERROR], 1);
        assert_true(was_told(work, BAD[i].place) && was_told(work, BAD[i].what));
        assert_true(BAD[i].expected == NULL || was_told(work, BAD[i].expected));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {WORK_TEST(test_good), WORK_TEST(test_bad)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
