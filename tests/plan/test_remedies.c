/* Remedies of plans that do not fit, and which memory does not: bytes against sums derived by hand.
 *
 * Proves: each remedy saves what planning anew with it saves, and is absent where it saves nothing; flash and far
 * memory of bounded size are held to it, with the local memory or without. */
#include "cases.h"

#define MAPS "input X int8[1,8,4,16]\nvalue t int8[1,8,4,16]\nvalue Y int8[1,8,4,16]\n" /* 512 bytes; a row 64 */
#define RAMP " = 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
#define CHAIN                                                                                                          \
    "input X int8[64]\nvalue t int8[64]\nvalue u int8[64]\nvalue Y int8[64]\nnode Custom a: X -> t\n"                  \
    "node Custom b: t -> u\nnode Custom c: u -> Y\noutput Y\n"

typedef struct {
    const char *what;
    const char *text;
    const char *device;
    PlanOptions options; /* 16 bytes of local memory where no budget is given */
    const char *kind;
    uint64_t saves_bytes; /* 0: the remedy is absent */
} RemedyCase;

static const RemedyCase remedies[] = {
    {"tiles: 512 for both maps and 16 of parameters; a pixel of 16 and 16 are left",
     "format tflite\n" MAPS "const s int8[16]" RAMP "node Mul m: X s -> Y\noutput Y\n",
     "teach",
     {.in_place = true, .whole_tiles = true},
     "tiles",
     512 + 16 - (16 + 16)},
    {"tiles: 1024 and 16; two pixels and 16 are left",
     "format tflite\n" MAPS "const s int8[16]" RAMP "node Mul m: X s -> Y\noutput Y\n",
     "teach",
     {.whole_tiles = true},
     "tiles",
     1040 - (16 + 16 + 16)},
    {"tiles: the step before holds 1024 as it did, of 1040",
     "format tflite\n" MAPS "const s int8[16]" RAMP "node Custom c: X -> t\nnode Mul m: t s -> Y\noutput Y\n",
     "teach",
     {.whole_tiles = true},
     "tiles",
     16},
    {"tiles: where that step is the peak, nothing is saved",
     "format tflite\n" MAPS "const s int8[16]" RAMP "node Custom c: X -> t\nnode Mul m: t s -> Y\noutput Y\n",
     "teach",
     {.in_place = true, .whole_tiles = true},
     "tiles",
     0},
    {"tiles: it has them",
     "format tflite\n" MAPS "const s int8[16]" RAMP "node Mul m: X s -> Y\noutput Y\n",
     "teach",
     {.in_place = false},
     "tiles",
     0},
    {"tiles: an arena has no far memory",
     "format tflite\n" MAPS "const s int8[16]" RAMP "node Mul m: X s -> Y\noutput Y\n",
     "mcu-cm",
     {.whole_tiles = true},
     "tiles",
     0},
    {"in place: one map of two",
     "format tflite\n" MAPS "node Relu m: X -> Y\noutput Y\n",
     "mcu-cm",
     {0},
     "in_place",
     512},
    {"in place already",
     "format tflite\n" MAPS "node Relu m: X -> Y\noutput Y\n",
     "mcu-cm",
     {.in_place = true},
     "in_place",
     0},
    {"compact: 16 bytes for 512",
     "format tflite\n" MAPS "const s int8[16]" RAMP "node Mul m: X s -> Y\noutput Y\n",
     "teach",
     {.in_place = true, .whole_tiles = true, .strategy = STRATEGY_FULL},
     "compact_parameters",
     496},
    {"pinned input: three of 64 for two", CHAIN, "mcu-cm", {.in_place = true, .pin_inputs = true}, "unpin_inputs", 64},
    {"another order: two maps of 256 at once beside 64, and one by one the second beside 16 of the first",
     "format tflite\ninput x int8[1,1,4,16]\nvalue a int8[1,1,16,16]\nvalue b int8[1,1,16,16]\n"
     "value c int8[1,1,1,16]\nvalue d int8[1,1,1,16]\nvalue y int8[1,1,1,16]\n"
     "node Concat a: x x x x -> a axis=2\nnode Concat b: x x x x -> b axis=2\n"
     "node GlobalAveragePool c: a -> c\nnode GlobalAveragePool d: b -> d\nnode Add y: c d -> y\noutput y\n",
     "mcu-cm",
     {.in_place = true},
     "order",
     576 - 336},
    {"pinned output", CHAIN, "mcu-cm", {.in_place = true, .pin_outputs = true}, "unpin_outputs", 64},
    {"larger memory: 128 of 100", CHAIN, "mcu-cm", {.in_place = true, .budget_bytes = 100}, "larger_memory", 28},
    {"larger far: X, w and Y are 1000 + 512000 + 512, gap8 has 512000",
     "format tflite\ninput X int8[1,1000]\nconst w int8[512,1000] = unknown\nvalue Y int8[1,512]\n"
     "node tflite.FULLY_CONNECTED f: X w -> Y\noutput Y\n",
     "gap8",
     {.in_place = true, .budget_bytes = 1 << 20},
     "larger_far",
     1512},
};

static uint64_t saved_by(const Plan *plan, const char *kind) {
    for (uint32_t i = 0; i < plan->remedy_count; i++) {
        if (strcmp(plan->remedies[i].kind, kind) == 0) {
            return plan->remedies[i].saves_bytes;
        }
    }
    return 0;
}

static void test_remedies(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++) {
        const RemedyCase *row = &remedies[i];
        Planned planned;
        Case c = {.text = row->text, .device = row->device, .options = row->options};
        c.options.budget_bytes = c.options.budget_bytes == 0 ? 16 : c.options.budget_bytes;
        case_must_plan(&planned, &c);
        assert_false(plan_fits(planned.plan));
        if (saved_by(planned.plan, row->kind) != row->saves_bytes) {
            fail_msg("%s: %s saves %llu of %llu", row->what, row->kind,
                     (unsigned long long)saved_by(planned.plan, row->kind),
                     (unsigned long long)planned.plan->peak_live_bytes);
        }
        planned_free(&planned);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_remedies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
