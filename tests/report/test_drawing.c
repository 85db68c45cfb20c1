/* The drawing of time and address. Proves, by marking every byte of every step for itself and reading the printed page
 * back: each cell shows the storage that holds most of it, its kind, and as much padding as it has; letters, names and
 * the legend are the plan's; what is free is free, the peak, the capacity and how much is alive are where they must be;
 * and that the drawing in more than ASCII shows the same. */
#include "plan/planned.h"

#include "report/report.h"
#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_ROWS = 64, LETTERS = 26, FREE = -1 };

/* ---- What must be: a byte and a step at a time */

typedef struct {
    const Facts *facts;
    uint32_t steps;
    uint64_t bytes; /* placed */
    int *who;       /* step-major: buffer, or FREE */
    uint64_t *live; /* of each step: bytes that are held */
} Truth;

static bool is_drawn(const Plan *plan, uint32_t i) {
    const Buffer *buffer = &plan->buffers[i];
    return !is_buffer(buffer->alias_of) && buffer->memory == plan->device->local && buffer->physical_bytes > 0;
}

static void mark(Truth *truth, uint32_t id) {
    const Buffer *buffer = &truth->facts->plan->buffers[id];
    for (uint32_t s = buffer->storage_first; s < buffer->storage_last; s++) {
        for (uint64_t b = buffer->offset; b < buffer->offset + buffer->physical_bytes; b++) {
            int *cell = &truth->who[s * truth->bytes + b];
            assert_int_equal(*cell, FREE);
            *cell = (int)id;
            truth->live[s]++;
        }
    }
}

static void find_truth(Truth *truth, const Facts *facts) {
    const Plan *plan = facts->plan;
    *truth = (Truth){facts, plan->step_count, plan->placed_bytes, NULL, NULL};
    truth->who = malloc(truth->steps * truth->bytes * sizeof *truth->who);
    truth->live = calloc(truth->steps, sizeof *truth->live);
    for (uint64_t i = 0; i < truth->steps * truth->bytes; i++) {
        truth->who[i] = FREE;
    }
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        if (is_drawn(plan, i)) {
            mark(truth, i);
        }
    }
}

static void free_truth(Truth *truth) {
    free(truth->who);
    free(truth->live);
}

/* ---- What is printed */

typedef struct {
    char *text;
    uint32_t row_count, width;
    uint64_t address[MOST_ROWS + 1]; /* from the lowest, and the end of the highest */
    const char *row[MOST_ROWS];
    const char *live, *legend;
    uint64_t capacity, capacity_after; /* the rule of the capacity, and the row it stands under; UINT64_MAX: on top */
    uint32_t peak;                     /* character of its mark */
    int letter[LETTERS];               /* buffer */
    Str name[LETTERS];                 /* of it, without "(local copy)" */
} Drawn;

static char *print(const Facts *facts, bool has_unicode, Arena *scratch) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    report_terminal(facts, (TerminalStyle){.has_unicode = has_unicode, .columns = 120}, scratch, out);
    fclose(out);
    char *drawing = strdup(strstr(text, "\ntime and address") + 1);
    free(text);
    return drawing;
}

/* "  1,234 |" */
static uint64_t read_number(const char **at) {
    uint64_t number = 0;
    *at += strspn(*at, " ");
    for (; **at == ',' || (**at >= '0' && **at <= '9'); ++*at) {
        number = **at == ',' ? number : number * 10 + (uint64_t)(**at - '0');
    }
    return number;
}

/* Rows from the highest: turned round at the end. */
static void turn_rows(Drawn *drawn) {
    for (uint32_t a = 0, b = drawn->row_count - 1; a < b; a++, b--) {
        const char *row = drawn->row[a];
        uint64_t address = drawn->address[a];
        drawn->row[a] = drawn->row[b];
        drawn->row[b] = row;
        drawn->address[a] = drawn->address[b];
        drawn->address[b] = address;
    }
}

static void read_rule(Drawn *drawn, uint64_t number, const char *text, uint64_t *top) {
    if (strncmp(text, "+-- placed", 10) == 0) {
        *top = number;
        return;
    }
    assert_true(strncmp(text, "+== capacity", 12) == 0 || strncmp(text, "+== --budget", 12) == 0);
    assert_int_equal(drawn->capacity, 0); /* once */
    drawn->capacity = number;
    drawn->capacity_after = drawn->row_count == 0 ? UINT64_MAX : drawn->address[drawn->row_count - 1];
}

static const char *read_rows(Drawn *drawn, const char *line) {
    uint64_t top = UINT64_MAX;
    for (;; line = strchr(line, '\n') + 1) {
        const char *at = line;
        uint64_t number = read_number(&at);
        at += strspn(at, " ");
        if (at[0] == '+') {
            read_rule(drawn, number, at, &top);
        } else if (at[0] == '|') {
            assert_true(drawn->row_count < MOST_ROWS);
            drawn->address[drawn->row_count] = number;
            drawn->row[drawn->row_count++] = at + 1;
            assert_true((size_t)(at + 1 - line) + strcspn(at, "\n") <= 101);
        } else {
            break;
        }
    }
    turn_rows(drawn);
    drawn->address[drawn->row_count] = top == UINT64_MAX ? drawn->capacity : top; /* all of it placed */
    drawn->width = (uint32_t)strcspn(drawn->row[0], "\n");
    return line;
}

typedef struct {
    uint64_t physical_bytes, logical_bytes;
    char kind[16];
    unsigned first, last;
    Str name;
} Entry;

/* "  A    128   90  activation  [2,4)  t (local copy)  with 2 others" */
static Entry read_entry(const char *line) {
    Entry entry;
    int name_at = 0;
    const char *at = line + 3;
    entry.physical_bytes = read_number(&at);
    entry.logical_bytes = read_number(&at);
    assert_int_equal(sscanf(at, " %15s [%u,%u) %n", entry.kind, &entry.first, &entry.last, &name_at), 3);
    size_t length = strcspn(at + name_at, "\n");
    const char *note = strstr(at + name_at, "  ");
    entry.name =
        (Str){at + name_at, note != NULL && note < at + name_at + length ? (size_t)(note - at - name_at) : length};
    return entry;
}

static bool is_entry(const Facts *facts, uint32_t i, const Entry *entry, Arena *scratch) {
    const Buffer *buffer = &facts->plan->buffers[i];
    return is_drawn(facts->plan, i) && buffer->physical_bytes == entry->physical_bytes &&
           buffer->logical_bytes == entry->logical_bytes && buffer->storage_first == entry->first &&
           buffer->storage_last == entry->last && strcmp(entry->kind, buffer_kind_name(buffer->kind)) == 0 &&
           str_eq(entry->name, facts_buffer_name(facts, (BufferId){i}, scratch));
}

/* Letters are in the order of the plan: of buffers that look alike it is the next. */
static void read_letter(Drawn *drawn, const Facts *facts, const char *line, Arena *scratch) {
    static const char copy[] = " (local copy)";
    const size_t ending = sizeof copy - 1;
    int letter = line[2] - 'A';
    Entry entry = read_entry(line);
    uint32_t i = letter == 0 ? 0 : (uint32_t)drawn->letter[letter - 1] + 1;
    while (i < facts->plan->buffer_count && !is_entry(facts, i, &entry, scratch)) {
        i++;
    }
    assert_true(i < facts->plan->buffer_count);
    drawn->letter[letter] = (int)i;
    bool is_copy = entry.name.len > ending && memcmp(entry.name.ptr + entry.name.len - ending, copy, ending) == 0;
    drawn->name[letter] = (Str){entry.name.ptr, entry.name.len - (is_copy ? ending : 0)};
}

static void read_drawing(Drawn *drawn, const Facts *facts, Arena *scratch) {
    *drawn = (Drawn){.text = print(facts, false, scratch)};
    const char *live = read_rows(drawn, strchr(drawn->text, '\n') + 1);
    drawn->live = strchr(live, '|') + 1;
    const char *steps = strchr(live, '\n') + 1;
    const char *peak = strchr(steps, '\n') + 1;
    drawn->peak = (uint32_t)(strchr(peak, '^') - peak - (drawn->live - live));
    for (uint32_t i = 0; i < LETTERS; i++) {
        drawn->letter[i] = FREE;
    }
    for (const char *line = strchr(strstr(peak, "  physical"), '\n') + 1; *line != '\0';
         line = strchr(line, '\n') + 1) {
        if (line[2] >= 'A' && line[2] <= 'Z' && line[3] == ' ') {
            read_letter(drawn, facts, line, scratch);
        }
    }
}

/* ---- Both compared */

static uint64_t first_step(const Drawn *drawn, const Truth *truth, uint32_t x) {
    if (truth->steps > drawn->width) {
        return (uint64_t)x * truth->steps / drawn->width;
    }
    assert_int_equal(drawn->width % truth->steps, 0);
    return x / (drawn->width / truth->steps);
}

static uint64_t last_step(const Drawn *drawn, const Truth *truth, uint32_t x) {
    return truth->steps > drawn->width ? first_step(drawn, truth, x + 1) : first_step(drawn, truth, x) + 1;
}

typedef struct {
    const Drawn *drawn;
    const Truth *truth;
    uint64_t *held;            /* of each buffer: bytes * steps of a cell, zero between cells */
    uint32_t *owned;           /* of each buffer: characters of which it holds at least half */
    uint32_t names[LETTERS];   /* how often each stands there */
    uint32_t longest[LETTERS]; /* run */
} Check;

/* Who holds most of a cell, the first of those that hold as much. */
static int cell_owner(Check *check, uint32_t r, uint32_t x) {
    const Drawn *drawn = check->drawn;
    const Truth *truth = check->truth;
    uint64_t *held = check->held;
    uint64_t steps = last_step(drawn, truth, x) - first_step(drawn, truth, x);
    int owner = FREE;
    for (uint64_t s = first_step(drawn, truth, x); s < last_step(drawn, truth, x); s++) {
        for (uint64_t b = drawn->address[r]; b < drawn->address[r + 1]; b++) {
            int who = truth->who[s * truth->bytes + b];
            if (who != FREE) {
                held[who]++;
            }
        }
    }
    for (uint32_t i = 0; i < truth->facts->plan->buffer_count; i++) {
        owner = held[i] > (owner == FREE ? 0 : held[owner]) ? (int)i : owner;
    }
    if (owner != FREE) {
        check->owned[owner] += 2 * held[owner] >= steps * (drawn->address[r + 1] - drawn->address[r]);
    }
    memset(held, 0, truth->facts->plan->buffer_count * sizeof *held);
    return owner;
}

static int letter_of(const Drawn *drawn, int owner) {
    for (int i = 0; i < LETTERS; i++) {
        if (owner != FREE && drawn->letter[i] == owner) {
            return 'A' + i;
        }
    }
    return 0;
}

static void check_free(const Check *check, const char *run, uint32_t at, uint32_t length) {
    for (uint32_t x = 0; x < length; x++) {
        assert_int_equal(run[x], at + x == check->drawn->peak ? ':' : '.');
    }
}

/* Behind a letter: " name ", whole where there is room, else with ".." in it. Returns its length. */
static uint32_t check_name(Check *check, const char *run, uint32_t length, int letter) {
    Str name = check->drawn->name[letter - 'A'];
    assert_int_equal(check->names[letter - 'A']++, 0);
    if (name.len + 2 <= length) {
        assert_memory_equal(run + 2, name.ptr, name.len);
        assert_true(name.len + 2 == length || run[2 + name.len] == ' ');
        return (uint32_t)name.len + 2 + (name.len + 2 < length);
    }
    char text[128];
    snprintf(text, sizeof text, "%.*s", (int)length, run);
    assert_non_null(strstr(text, ".."));
    return length;
}

static void check_marks(const Check *check, const char *run, uint32_t length, int owner) {
    static const char kinds[] = "iaowpsk";
    const Buffer *buffer = &check->truth->facts->plan->buffers[owner];
    double share = 1 - (double)buffer->logical_bytes / ((double)buffer->physical_bytes * (double)buffer->banks_used);
    uint32_t padding = 0;
    for (uint32_t x = 0; x < length; x++) {
        assert_true(run[x] == '/' || run[x] == kinds[buffer->kind]);
        padding += run[x] == '/';
    }
    assert_true((double)padding < share * length + 1 && (double)padding + 1 > share * length);
}

static void check_run(Check *check, const char *row, uint32_t first, uint32_t last, int owner, int left) {
    const Plan *plan = check->truth->facts->plan;
    uint32_t length = last - first;
    uint32_t skip = 1;
    const char *run = row + first;
    int letter = letter_of(check->drawn, owner);
    if (owner == FREE) {
        check_free(check, run, first, length);
        return;
    }
    if (letter != 0) {
        assert_int_equal(run[0], letter);
        uint32_t *longest = &check->longest[letter - 'A'];
        *longest = length > *longest ? length : *longest;
        skip = length > 1 && run[1] == ' ' ? check_name(check, run, length, letter) : 1;
    } else if (letter_of(check->drawn, left) != 0 && plan->buffers[left].kind == plan->buffers[owner].kind) {
        assert_int_equal(run[0], '|');
    } else {
        skip = 0;
    }
    check_marks(check, run + skip, length - skip, owner);
}

static void check_rows(Check *check) {
    const Drawn *drawn = check->drawn;
    for (uint32_t r = 0; r < drawn->row_count; r++) {
        int left = FREE;
        uint32_t first = 0;
        int owner = cell_owner(check, r, 0);
        assert_int_equal(strcspn(drawn->row[r], "\n"), drawn->width);
        for (uint32_t x = 1; x <= drawn->width; x++) {
            int next = x == drawn->width ? FREE : cell_owner(check, r, x);
            if (next != owner || x == drawn->width) {
                check_run(check, drawn->row[r], first, x, owner, left);
                left = owner;
                owner = next;
                first = x;
            }
        }
    }
}

/* Every storage has a letter where there are enough, else those that own most; a letter its name where that has room.
 */
static void check_letters(const Check *check) {
    const Plan *plan = check->truth->facts->plan;
    uint32_t drawable = 0, lettered = 0, least = UINT32_MAX, most = 0;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        bool has_letter = letter_of(check->drawn, (int)i) != 0;
        uint32_t owned = check->owned[i];
        drawable += is_drawn(plan, i);
        lettered += has_letter;
        least = has_letter && owned < least ? owned : least;
        most = !has_letter && owned > most ? owned : most;
    }
    assert_true(drawable > LETTERS ? lettered == LETTERS || most == 0 : lettered == drawable);
    assert_true(most <= least);
    for (uint32_t i = 0; i < LETTERS; i++) {
        if (check->drawn->letter[i] != FREE) {
            assert_true(check->longest[i] < check->drawn->name[i].len + 2 || check->names[i] == 1);
        }
    }
}

/* Eighths of the peak, rounded up; the peak is the first step with so much. */
static void check_live(const Check *check) {
    const Drawn *drawn = check->drawn;
    const Truth *truth = check->truth;
    uint32_t peak = 0;
    for (uint32_t s = 0; s < truth->steps; s++) {
        peak = truth->live[s] > truth->live[peak] ? s : peak;
    }
    for (uint32_t x = 0; x < drawn->width; x++) {
        uint64_t most = 0;
        for (uint64_t s = first_step(drawn, truth, x); s < last_step(drawn, truth, x); s++) {
            most = truth->live[s] > most ? truth->live[s] : most;
        }
        uint64_t eighths = (8 * most + truth->live[peak] - 1) / truth->live[peak];
        assert_int_equal(drawn->live[x], '0' + (int)eighths);
    }
    assert_true(first_step(drawn, truth, drawn->peak) <= peak && peak < last_step(drawn, truth, drawn->peak));
    char text[96];
    snprintf(text, sizeof text, "alive at step %u", peak);
    assert_non_null(strstr(drawn->live, text));
}

static void check_capacity(const Check *check) {
    const Plan *plan = check->truth->facts->plan;
    const Drawn *drawn = check->drawn;
    assert_int_equal(drawn->address[0], 0);
    assert_int_equal(drawn->address[drawn->row_count], plan->placed_bytes);
    assert_int_equal(drawn->capacity, plan->capacity_bytes);
    assert_int_equal(drawn->capacity_after,
                     plan->capacity_bytes < plan->placed_bytes ? plan->capacity_bytes : UINT64_MAX);
}

/* Row by row, each character of UTF-8 read as the one of ASCII that it stands for. */
static void check_unicode(const Check *check, Arena *scratch) {
    static const struct {
        const char *unicode;
        char ascii;
    } glyphs[] = {{"░", 'i'}, {"▒", 'a'}, {"▓", 'o'}, {"█", 'w'}, {"▞", 'p'}, {"═", 's'},
                  {"─", 'k'}, {"╱", '/'}, {"·", '.'}, {"┊", ':'}, {"▏", '|'}};
    char *text = print(check->truth->facts, true, scratch);
    const char *at = text;
    for (uint32_t r = check->drawn->row_count; r-- > 0;) {
        for (at = strchr(at, '|') + 1; at[-2] != ' '; at = strchr(at, '|') + 1) {
        }
        for (uint32_t x = 0; x < check->drawn->width; x++) {
            char shown = at[0];
            size_t length = 1;
            for (size_t g = 0; g < sizeof glyphs / sizeof *glyphs; g++) {
                bool is_it = strncmp(at, glyphs[g].unicode, strlen(glyphs[g].unicode)) == 0;
                shown = is_it ? glyphs[g].ascii : shown;
                length = is_it ? strlen(glyphs[g].unicode) : length;
            }
            assert_int_equal(shown, check->drawn->row[r][x]);
            at += length;
        }
        assert_int_equal(*at, '\n');
    }
    free(text);
}

static void check_case(const char *graph, const char *device, uint64_t budget_bytes) {
    Planned planned;
    const PlanCase test = {graph, device, NULL, {.in_place = true, .budget_bytes = budget_bytes}};
    assert_true(planned_make(&planned, &test));
    const Facts *facts = facts_gather("net", planned.plan, NULL, false, &planned.work);
    Truth truth;
    Drawn drawn;
    find_truth(&truth, facts);
    read_drawing(&drawn, facts, &planned.work.scratch);
    Check check = {.drawn = &drawn, .truth = &truth};
    check.held = calloc(planned.plan->buffer_count, sizeof *check.held);
    check.owned = calloc(planned.plan->buffer_count, sizeof *check.owned);
    check_rows(&check);
    check_letters(&check);
    check_live(&check);
    check_capacity(&check);
    check_unicode(&check, &planned.work.scratch);
    free(check.held);
    free(check.owned);
    free(drawn.text);
    free_truth(&truth);
    planned_free(&planned);
}

/* ---- Networks by chance */

static void write_value(FILE *out, uint64_t *random, const char *what, uint32_t n, bool is_small) {
    uint32_t most = is_small ? 3 : 9;
    fprintf(out, "%s %s%u int8[1,%u,%u,%u]\n", what, n % 5 == 0 ? "a_name_that_is_long/v" : "v", n,
            1 + (unsigned)random_below(random, most), 1 + (unsigned)random_below(random, most),
            1 + (unsigned)random_below(random, most));
}

static const char *name_of(uint32_t n) {
    return n % 5 == 0 ? "a_name_that_is_long/v" : "v";
}

/* Each node also reads an earlier value: near ones mostly, so that storages live long and short. */
static char *write_network(uint64_t *random, uint32_t nodes) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fprintf(out, "stride0-graph 1\nformat tflite\n");
    write_value(out, random, "input", 0, false);
    for (uint32_t n = 1; n <= nodes; n++) {
        uint32_t back = (uint32_t)random_below(random, random_below(random, 8) == 0 ? n : n < 3 ? n : 3);
        write_value(out, random, "value", n, nodes > 60 && n % 9 != 0);
        fprintf(out, "node Custom n%u: %s%u %s%u -> %s%u\n", n, name_of(n - 1), n - 1, name_of(n - 1 - back),
                n - 1 - back, name_of(n), n);
    }
    fprintf(out, "output %s%u\n", name_of(nodes), nodes);
    fclose(out);
    return text;
}

static void test_random(void **state) {
    (void)state;
    static const uint32_t nodes[] = {1, 2, 7, 12, 25, 40, 84, 88, 90, 91, 200, 1000};
    static const uint64_t budgets[] = {0, 400, 1001};
    uint64_t random = 20;
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        for (size_t b = 0; b < sizeof budgets / sizeof *budgets; b++) {
            char *graph = write_network(&random, nodes[i]);
            check_case(graph, "mcu-cm", budgets[b]);
            check_case(graph, "teach", 0);
            free(graph);
        }
    }
}

/* A per-channel chain on a device that loads and stores: parameters, tiles, workspace, in place. */
static void test_sweep(void **state) {
    (void)state;
    static const char *const graph =
        "stride0-graph 1\nformat tflite\ninput X int8[1,40,28,12]\nconst s int8[12] = 1 2 3 4 5 6 7 8 9 1 2 3\n"
        "value t int8[1,40,28,12]\nvalue Y int8[1,40,28,12]\nnode Mul m: X s -> t\nnode Add a: t s -> Y\noutput Y\n";
    check_case(graph, "teach", 0);
    check_case(graph, "teach", 2000);
    check_case(graph, "ethos-u55-128", 0);
}

/* A(64), t(64), u(60 in 64), Y(64), of which two are alive at a time: u comes where A was, Y where t was. Rows of 16
 * bytes, steps of 16 characters. Of u 1/16 is padding: where row + character, from 0, is 15 mod 16. The longest run of
 * A is in the rows 4 to 7: its name stands in the second of them from above. */
static void test_by_hand(void **state) {
    (void)state;
    Planned planned;
    const PlanCase test = {"stride0-graph 1\ninput A int8[64]\nvalue t int8[64]\nvalue u int8[60]\nvalue Y int8[64]\n"
                           "node Custom a: A -> t\nnode Custom b: t -> u\nnode Custom c: u -> Y\noutput Y\n",
                           "mcu-cm",
                           NULL,
                           {.in_place = true, .budget_bytes = 112}};
    assert_true(planned_make(&planned, &test));
    const Facts *facts = facts_gather("net", planned.plan, NULL, false, &planned.work);
    char *text = print(facts, false, &planned.work.scratch);
    assert_string_equal(text, "time and address: a row reaches up to the next, a column is 1 step\n"
                              "     128 +-- placed, 16 bytes too many -------------------\n"
                              "     112 |AiiiiiiiiiiiiiiiCaaaaaaa/aaaaaaaaaaaaaaa/aaaaaaa\n"
                              "     112 +== --budget ====================================\n"
                              "      96 |A A iiiiiiiiiiiiC u aaaaa/aaaaaaaaaaaaaaa/aaaaaa\n"
                              "      80 |AiiiiiiiiiiiiiiiCaaaaaaaaa/aaaaaaaaaaaaaaa/aaaaa\n"
                              "      64 |AiiiiiiiiiiiiiiiCaaaaaaaaaa/aaaaaaaaaaaaaaa/aaaa\n"
                              "      48 |BaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaDooooooooooooooo\n"
                              "      32 |B t aaaaaaaaaaaaaaaaaaaaaaaaaaaaD Y oooooooooooo\n"
                              "      16 |BaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaDooooooooooooooo\n"
                              "       0 |BaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaDooooooooooooooo\n"
                              "    live |888888888888888888888888888888888888888888888888\n"
                              "    step  0               1               2\n"
                              "          ^ peak: 128 bytes alive at step 0\n"
                              "  i input  a activation  o output  / padding\n"
                              "  live: the most in a column, in eighths of the peak, rounded up\n"
                              "     physical  logical  kind        alive  name\n"
                              "  A        64       64  input       [0,1)  A\n"
                              "  B        64       64  activation  [0,2)  t\n"
                              "  C        64       60  activation  [1,3)  u\n"
                              "  D        64       64  output      [2,3)  Y\n");
    free(text);
    planned_free(&planned);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_sweep),
        cmocka_unit_test(test_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
