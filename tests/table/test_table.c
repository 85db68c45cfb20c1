/* Proves: tables mean what docs/pack.md says, whichever names, order, quotes and line ends they have; what is wrong is
 * told with line, column, what stands there and what should; and the same rows come out, cell by cell. */
#include "support/work.h"
#include "table/table.h"

#include <inttypes.h>

/* Each row as ID [first,last) SIZE%ALIGN, then gaps, offset, hint and names where it has them. */
static const char *tell_row(const Table *table, const TableRow *row, Arena *arena) {
    const char *text = arena_text(arena, STR_FMT " [%" PRIu64 ",%" PRIu64 ") %" PRIu64 "%%%" PRIu64, STR_ARG(row->id),
                                  row->first, row->last, row->size, row->align);
    for (size_t k = 0; k < row->gap_count; k++) {
        text = arena_text(arena, "%s -[%" PRIu64 ",%" PRIu64 ")", text, row->gap[k].first, row->gap[k].last);
    }
    text = row->is_pinned ? arena_text(arena, "%s @%" PRIu64, text, row->offset) : text;
    text = row->has_hint ? arena_text(arena, "%s ?%" PRIu64, text, row->hint) : text;
    text = row->memory > 0 ? arena_text(arena, "%s in " STR_FMT, text, STR_ARG(table->memory[row->memory])) : text;
    text = row->share > 0 ? arena_text(arena, "%s share %" PRIu32, text, row->share) : text;
    text = row->apart > 0 ? arena_text(arena, "%s apart %" PRIu32, text, row->apart) : text;
    return arena_text(arena, "%s;", text);
}

static const struct {
    const char *text, *rows;
} GOOD[] = {
    {"id,lower,upper,size\nb1,0,3,4\nb2,3,9,5\n", "b1 [0,3) 4%1;b2 [3,9) 5%1;"},
    {"id,lower,upper,size", ""},
    {"id,start,end,size\nb1,0,3,4\n", "b1 [0,4) 4%1;"},
    {"buffer_id,begin,upper,size\nb1,0,3,4", "b1 [0,3) 4%1;"},
    {"Size,UPPER,Id,lower\r\n4,3,b1,0\r\n", "b1 [0,3) 4%1;"},
    {"\xEF\xBB\xBFid, lower ,upper,size\n\n \"b,1\" , 0,3 ,\"4\"\n\n", "b,1 [0,3) 4%1;"},
    {"id,lower,upper,size,alignment\na,0,1,1,\nb,0,1,1,3\n", "a [0,1) 1%1;b [0,1) 1%3;"},
    {"id,lower,upper,size,offset,hint\na,0,1,1,,\nb,0,1,1,0,7\n", "a [0,1) 1%1;b [0,1) 1%1 @0 ?7;"},
    {"id,lower,upper,size,gaps\na,0,9,1,\nb,0,9,1,3-5 7-8\n", "a [0,9) 1%1;b [0,9) 1%1 -[3,5) -[7,8);"},
    {"id,lower,upper,size,gaps\na,0,9,1,  7-8   3-5\n", "a [0,9) 1%1 -[3,5) -[7,8);"},
    {"id,lower,upper,size,gaps\na,0,9,1,3-6 5-7 7-8\n", "a [0,9) 1%1 -[3,8);"},
    {"id,lower,upper,size,gaps\na,0,9,1,0-2 8-9 4-5\n", "a [2,8) 1%1 -[4,5);"},
    {"id,start,end,size,gaps\na,0,9,1,3-5\n", "a [0,10) 1%1 -[3,6);"},
    {"id,lower,upper,size,memory,share,apart\na,0,1,1,far,,x\nb,0,1,1,,s,\nc,0,1,1,tcm,s,x\n",
     "a [0,1) 1%1 in far apart 1;b [0,1) 1%1 share 1;c [0,1) 1%1 in tcm share 1 apart 1;"},
    {"id,lower,upper,size\na,0,18446744073709551615,18446744073709551615\n",
     "a [0,18446744073709551615) 18446744073709551615%1;"},
    {"id,start,end,size,colour\na,0,18446744073709551614,1,red\n", "a [0,18446744073709551615) 1%1;"},
};

static void test_good(Work *work) {
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++) {
        Table table;
        const char *told = "";
        assert_true(table_read(&table, str_from(GOOD[i].text), work));
        for (size_t k = 0; k < table.count; k++) {
            told = arena_text(&work->keep, "%s%s", told, tell_row(&table, &table.row[k], &work->keep));
        }
        assert_string_equal(told, GOOD[i].rows);
        assert_null(work->diags.first);
    }
}

#define HEAD "id,lower,upper,size\n"

static const struct {
    const char *text;
    const char *place, *what, *got; /* null: does not matter */
} BAD[] = {
    {"", NULL, "the table is empty", NULL},
    {"\n\n", NULL, "the table is empty", NULL},
    {"id,lower,size\n", "line 1", "columns are missing", "id,lower,size"},
    {"\nid;lower;upper;size\n", "line 2", "columns are missing", NULL},
    {"\xFF\xFEi\0d\0", "line 1", "columns are missing", NULL},
    {"id,lower,upper,size,end\n", "line 1", "the last step is told twice", "'upper' and 'end'"},
    {"id,lower,upper,size,start\n", "line 1", "two columns mean the same", "'lower' and 'start'"},
    {"id,lower,upper,size,id\n", "line 1", "two columns mean the same", NULL},
    {HEAD "a,0,1\n", "line 2", "has not the columns", "3 cells"},
    {HEAD "a,0,1,1,\n", "line 2", "has not the columns", "5 cells"},
    {HEAD "# from a tool\n", "line 2", "has not the columns", "1 cell"},
    {HEAD ",0,1,1\n", "line 2, column 'id'", "the cell is empty", "nothing"},
    {HEAD "a,0,1,1\nb,0,1,1\na,0,1,1\n", "line 4, column 'id'", "two buffers have one name", "a"},
    {HEAD "a,-1,1,1\n", "line 2, column 'lower'", "not a number", "-1"},
    {HEAD "a,0,1.5,1\n", "line 2, column 'upper'", "not a number", "1.5"},
    {HEAD "a,5,5,1\n", "line 2, column 'upper'", "lives in no step", "5"},
    {HEAD "a,6,5,1\n", "line 2, column 'upper'", "lives in no step", "5"},
    {"id,lower,end,size\na,6,5,1\n", "line 2, column 'end'", "lives in no step", "5"},
    {"id,lower,end,size\na,6,18446744073709551615,1\n", "line 2, column 'end'", "no number of 64 bits", NULL},
    {HEAD "a,0,1,0\n", "line 2, column 'size'", "not a number", "0"},
    {HEAD "a,0,1,\n", "line 2, column 'size'", "the cell is empty", "nothing"},
    {HEAD "a,0,1,64K\n", "line 2, column 'size'", "not a number", "64K"},
    {HEAD "a,0,1,1e6\n", "line 2, column 'size'", "not a number", "1e6"},
    {HEAD "a,0,1,18446744073709551616\n", "line 2, column 'size'", "not a number", "18446744073709551616"},
    {HEAD "a,0,1,\"1\n", "line 2, byte 7", "a quote is never closed", NULL},
    {HEAD "a,0,1,\"1\"2\n", "line 2, byte 10", "text stands behind a closing quote", NULL},
    {"id,lower,upper,size,alignment\na,0,1,1,0\n", "line 2, column 'alignment'", "not a number", "0"},
    {"id,lower,upper,size,offset\na,0,1,1,-4\n", "line 2, column 'offset'", "not a number", "-4"},
    {"id,lower,upper,size,offset,alignment\na,0,1,1,6,4\n", "line 2, column 'offset'", "not a multiple", "6"},
    {"id,lower,upper,size,hint\na,0,1,1,x\n", "line 2, column 'hint'", "not a number", "x"},
    {"id,lower,upper,size,gaps\na,0,9,1,3\n", "line 2, column 'gaps'", "not a gap", "3"},
    {"id,lower,upper,size,gaps\na,0,9,1,3-x\n", "line 2, column 'gaps'", "not a gap", "3-x"},
    {"id,lower,upper,size,gaps\na,0,9,1,5-5\n", "line 2, column 'gaps'", "the gap is empty", "5-5"},
    {"id,lower,upper,size,gaps\na,2,9,1,3-4 1-3\n", "line 2, column 'gaps'", "not within", "1-3"},
    {"id,lower,upper,size,gaps\na,2,9,1,3-10\n", "line 2, column 'gaps'", "not within", "3-10"},
    {"id,lower,end,size,gaps\na,2,9,1,3-18446744073709551615\n", "line 2, column 'gaps'", "not a gap", NULL},
    {"id,lower,upper,size,gaps\na,2,9,1,2-5 5-9\n", "line 2, column 'gaps'", "leave no step", NULL},
    {"id,lower,upper,size,gaps\na,2,9,1,3-5@0:8\n", "line 2, column 'gaps'", "not supported", "3-5@0:8"},
};

static void test_bad(Work *work) {
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        Table table;
        work->diags = (Diags){.arena = &work->keep};
        const Str text = i == 4 ? (Str){BAD[i].text, 6} : str_from(BAD[i].text);
        assert_false(table_read(&table, text, work));
        if (!was_told(work, BAD[i].what) || (BAD[i].place != NULL && !was_told(work, BAD[i].place)) ||
            (BAD[i].got != NULL && !was_told(work, arena_text(&work->keep, "got       %s\n", BAD[i].got)))) {
            char *told = messages_of(work);
            fail_msg("row %zu is told as:\n%s", i, told);
        }
        s0_status status = strcmp(BAD[i].what, "not supported") == 0 ? S0_REFUSED : S0_BAD_INPUT;
        assert_int_equal(diags_status(&work->diags), status);
    }
}

/* Everything that is wrong is told, but not without end. */
static void test_many_errors(Work *work) {
    Table table;
    assert_false(table_read(&table, STR(HEAD "a,0,0,1\nb,0,1,0\nc,0,1,1\nd,0,1\n"), work));
    assert_int_equal(work->diags.count[DIAG_ERROR], 3);
    enum { ROWS = 1000 };
    char text[sizeof HEAD + ROWS * 8] = HEAD;
    for (size_t k = 0; k < ROWS; k++) {
        memcpy(text + sizeof HEAD - 1 + 8 * k, "a,1,0,0\n", 8);
    }
    work->diags = (Diags){.arena = &work->keep};
    assert_false(table_read(&table, (Str){text, sizeof HEAD - 1 + ROWS * 8}, work));
    assert_in_range(work->diags.count[DIAG_ERROR], 20, 25);
}

static void test_slip_is_told(Work *work) {
    Table table;
    assert_true(table_read(&table, STR("id,lower,upper,size,aligment\na,0,1,1,16\n"), work));
    assert_int_equal(work->diags.count[DIAG_WARNING], 1);
    assert_true(was_told(work, "did you mean 'alignment'?"));
    assert_int_equal(table.row[0].align, 1);
}

static const struct {
    const char *text, *written;
    bool has_memory;
} WRITTEN[] = {
    {"id,lower,upper,size\na,0,1,1\nb,0,1,1", "id,lower,upper,size,offset\na,0,1,1,10\nb,0,1,1,11\n", false},
    {"id,lower,upper,size\r\na,0,1,1\r\nb,0,1,1\r\n", "id,lower,upper,size,offset\r\na,0,1,1,10\r\nb,0,1,1,11\r\n",
     false},
    {"\xEF\xBB\xBF\nid, lower,offset,upper,size\n\n\"a,\"\"1\" ,0,,1,1\nb,0, 7 ,1,1\n",
     "\xEF\xBB\xBFid, lower,offset,upper,size\n\"a,\"\"1\" ,0,10,1,1\nb,0,11,1,1\n", false},
    {"id,lower,upper,size,colour\na,0,1,1,red\nb,0,1,1,\n",
     "id,lower,upper,size,colour,memory,offset\na,0,1,1,red,tcm,10\nb,0,1,1,,\"f \"\"x\",11\n", true},
    {"id,memory,lower,upper,size\na,,0,1,1\nb,,0,1,1\n",
     "id,memory,lower,upper,size,offset\na,tcm,0,1,1,10\nb,\"f \"\"x\",0,1,1,11\n", true},
};

static void test_written(Work *work) {
    static const uint64_t OFFSET[] = {10, 11};
    const Str memory[] = {STR("tcm"), STR("f \"x")};
    for (size_t i = 0; i < sizeof WRITTEN / sizeof *WRITTEN; i++) {
        Table table;
        char *written = NULL;
        size_t length = 0;
        assert_true(table_read(&table, str_from(WRITTEN[i].text), work));
        FILE *out = open_memstream(&written, &length);
        assert_non_null(out);
        table_write(&table, OFFSET, WRITTEN[i].has_memory ? memory : NULL, &work->scratch, out);
        fclose(out);
        assert_string_equal(written, WRITTEN[i].written);
        free(written);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {WORK_TEST(test_good), WORK_TEST(test_bad), WORK_TEST(test_many_errors),
                                       WORK_TEST(test_slip_is_told), WORK_TEST(test_written)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
