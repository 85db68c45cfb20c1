/* What local memory or what lies behind it has no room for goes to the memories that take its overflow.
 *
 * Proves, by figures counted by hand on maps of 64 bytes: what overflows costs as little as can be, storages that are
 * not alive at once share bytes there too, a memory without the room is left out, one that is cheaper than local memory
 * is filled first, aliases go with their storage, the sums of local memory are those of what stayed; constants and maps
 * of far memory overflow into one behind it; where all memories are too small, or none takes overflow, the plan is as
 * it was, and what is told to be lacking is enough and a byte less is not; and --order memory is chosen by what does
 * not fit, by what the rest costs, then by what further memories have at once. */
#include "planned.h"

#include <stdio.h>
#include <string.h>

/* Local and further memories of an arena; of flash the rest. */
static const char arena[] =
    "[device]\nname = box\nkind = arena\n[memory local]\nbytes = %s @ t\nalign_bytes = %u @ t\n%s"
    "[memory flash]\nbytes = %s @ t\nalign_bytes = 1 @ t\n"
    "[contract]\nactivation = N H W C @ t\nweight = O H W I @ t\nparameter = N H W C @ t\n"
    "[parameter]\nscalar = 1 @ t\nchannel = 1 @ t\nrow = 1 @ t\nfull = 1 @ t\n";

#define TCM(bytes, price)                                                                                              \
    "[memory tcm]\nbytes = " bytes " @ t\nalign_bytes = 8 @ t\noverflow = local @ t\nprice = " price " @ t\n"
#define RAM  "[memory ram]\nbytes = unbounded @ t\nalign_bytes = 32 @ t\noverflow = local @ t\nprice = 5 @ t\n"
#define QSPI "[memory qspi]\nbytes = unbounded @ t\nalign_bytes = 4 @ t\noverflow = flash @ t\n"

/* X p q Y, 64 bytes each, two of them alive at each of three steps. */
#define CHAIN                                                                                                          \
    "format onnx 13\ninput X int8[1,1,4,16]\nnode LpPool a: X -> p kernel_shape=[1,1]\n"                               \
    "node LpPool b: p -> q kernel_shape=[1,1]\nnode LpPool c: q -> Y kernel_shape=[1,1]\noutput Y\n"
/* r is p under another shape. */
#define VIEWED                                                                                                         \
    "format onnx 13\ninput X int8[1,1,4,16]\nconst s int64[4] = 1 1 8 8\nnode LpPool a: X -> p kernel_shape=[1,1]\n"   \
    "node Reshape v: p s -> r\nnode LpPool c: r -> Y kernel_shape=[1,1]\noutput Y\n"
/* Two constants of 64 bytes. */
#define ADDS                                                                                                           \
    "format onnx 13\ninput X int8[1,1,4,16]\nconst a int8[1,1,4,16] = hex "                                            \
    "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f"                 \
    "303132333435363738393a3b3c3d3e3f\nconst b int8[1,1,4,16] = hex "                                                  \
    "010102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f"                 \
    "303132333435363738393a3b3c3d3e3f\nnode Add f: X a -> p\nnode Add g: p b -> Y\noutput Y\n"

/* t0, t2 and t1, of 32 bytes each, are there at the end, beside x0 until it has been read. */
#define SPLIT                                                                                                          \
    "format onnx 13\ninput x0 int8[1,4,4,4]\nconst s int64[2] = 2 2\nvalue t0 int8[1,2,4,4]\n"                         \
    "value t2 int8[1,2,4,4]\nvalue t1 int8[1,4,4,4]\nnode Split a: x0 s -> t0 t2 axis=1\nnode Relu b: x0 -> t1\n"      \
    "output t0\noutput t1\noutput t2\n"

typedef struct {
    const char *what, *graph, *local, *further, *flash;
    bool fits;
    uint64_t placed_bytes, peak_bytes, flash_bytes; /* of what stayed */
    uint64_t there[2];                              /* bytes in the further memories, in their order */
    uint64_t cost;                                  /* of those bytes by their prices */
    unsigned local_align;                           /* its unit */
} Overflowing;

static const Overflowing overflowing[] = {
    {"no further memory", CHAIN, "64", "", "1K", false, 128, 128, 0, {0, 0}, 0, 1},
    {"all fits", CHAIN, "128", RAM, "1K", true, 128, 128, 0, {0, 0}, 0, 1},
    /* Of each step's two one stays: X and q, or p and Y. The other pair is 128 bytes, not alive at once. */
    {"one memory takes it", CHAIN, "64", RAM, "1K", true, 64, 64, 0, {128, 0}, 640, 1},
    {"the cheaper one takes it", CHAIN, "64", TCM("64", "1") RAM, "1K", true, 64, 64, 0, {128, 0}, 128, 1},
    {"too small by a byte", CHAIN, "64", TCM("63", "1") RAM, "1K", true, 64, 64, 0, {0, 128}, 640, 1},
    {"nothing stays", CHAIN, "63", RAM, "1K", true, 0, 0, 0, {256, 0}, 1280, 1},
    {"all are too small", CHAIN, "64", TCM("63", "1"), "1K", false, 128, 128, 0, {0, 0}, 0, 1},
    /* Local memory costs 0: one that costs as much gains nothing. */
    {"no cheaper one", CHAIN, "128", TCM("64", "0"), "1K", true, 128, 128, 0, {0, 0}, 0, 1},
    {"a view goes with what it shows", VIEWED, "64", RAM, "1K", true, 64, 64, 0, {64, 0}, 320, 1},
    /* Starts there are multiples of 8, whatever local memory asks for. */
    {"a unit of its own", SPLIT, "64", TCM("64", "1") RAM, "1K", true, 64, 64, 0, {64, 0}, 64, 64},
    {"flash", ADDS, "1K", QSPI, "64", true, 64, 64, 64, {64, 0}, 64, 1},
    {"flash that holds none", ADDS, "1K", QSPI, "63", true, 64, 64, 0, {128, 0}, 128, 1},
    {"flash that holds all", ADDS, "1K", QSPI, "128", true, 64, 64, 128, {0, 0}, 0, 1},
};

/* The bytes of a memory's storages, counted anew; no two that are alive at once share one. */
static uint64_t count_bytes(const Plan *plan, uint32_t memory) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *a = &plan->buffers[i];
        assert_int_equal(a->memory, plan_buffer(plan, a->storage)->memory);
        bytes += a->memory == memory && a->storage.index == i ? a->physical_bytes : 0;
        for (uint32_t k = 0; k < i; k++) {
            const Buffer *b = &plan->buffers[k];
            bool meet = a->memory == memory && b->memory == memory && a->storage.index == i && b->storage.index == k &&
                        a->storage_first < b->storage_last && b->storage_first < a->storage_last;
            assert_true(!meet || a->offset + a->physical_bytes <= b->offset ||
                        b->offset + b->physical_bytes <= a->offset);
        }
    }
    return bytes;
}

static void check_further(const Plan *plan, const Overflowing *row) {
    uint64_t cost = 0;
    uint32_t further = 0;
    for (uint32_t m = 0; m < plan->device->memory_count; m++) {
        const PlanOverflow *there = &plan->overflow[m];
        const DeviceMemory *memory = &plan->device->memory[m];
        if (memory->overflow == OVERFLOW_NONE) {
            assert_int_equal(there->storage_count, 0);
            continue;
        }
        assert_int_equal(there->physical_bytes, row->there[further++]);
        assert_int_equal(count_bytes(plan, m), there->physical_bytes);
        assert_true(there->placed_bytes <= memory->bytes && there->placed_bytes % memory->align_bytes == 0);
        assert_true(there->physical_bytes == 0 || there->is_cheapest);
        cost += there->physical_bytes * memory->price;
    }
    assert_int_equal(cost, row->cost);
}

static void test_overflow(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof overflowing / sizeof overflowing[0]; k++) {
        const Overflowing *row = &overflowing[k];
        Planned planned;
        print_message("%s\n", row->what);
        char device[1024];
        int length = snprintf(device, sizeof device, arena, row->local, row->local_align, row->further, row->flash);
        assert_in_range(length, 1, sizeof device - 1);
        planned_on(&planned, device, row->graph, &(PlanOptions){.in_place = true});
        const Plan *plan = planned.plan;
        assert_int_equal(plan_fits(plan), row->fits);
        assert_int_equal(plan->placed_bytes, row->placed_bytes);
        assert_int_equal(plan->peak_live_bytes, row->peak_bytes);
        assert_int_equal(plan->physical_bytes, count_bytes(plan, plan->device->local));
        assert_int_equal(plan->backing_bytes, row->flash_bytes);
        check_further(plan, row);
        planned_free(&planned);
    }
}

/* t waits in far memory while u is made (tests/plan/test_declared.c), and far memory has no room for it: X 100, Y 4. */
static void test_far_map(void **state) {
    (void)state;
    static const char device[] =
        "[device]\nname = box\nkind = scratchpad\n[memory local]\nbytes = 204 @ t\nalign_bytes = 4 @ t\n"
        "[memory far]\nbytes = 104 @ t\nalign_bytes = 4 @ t\n"
        "[memory ext]\nbytes = 100 @ t\nalign_bytes = 4 @ t\noverflow = far @ t\n"
        "[contract]\nactivation = N H W C @ t\nweight = O H W I @ t\nparameter = N H W C @ t\n"
        "[parameter]\nscalar = 1 @ t\nchannel = 1 @ t\nrow = 1 @ t\nfull = 1 @ t\n";
    static const char graph[] =
        "format tflite\ninput X int8[100]\nvalue t int8[100]\nvalue u int8[100]\nvalue v int8[100]\nvalue Y int8[4]\n"
        "node Custom m: X -> t\nnode Custom n: t -> u\nnode Custom p: u -> v\nnode Custom q: t v -> Y\noutput Y\n";
    Planned planned;
    planned_on(&planned, device, graph, &(PlanOptions){.in_place = true});
    const Plan *plan = planned.plan;
    assert_true(plan_fits(plan));
    assert_int_equal(plan->backing_bytes + plan->overflow[2].placed_bytes, 204);
    assert_int_equal(plan->overflow[2].physical_bytes, 100);
    planned_free(&planned);
}

static uint64_t cost_of(const Plan *plan) {
    uint64_t cost = 0;
    for (uint32_t m = 0; m < plan->device->memory_count; m++) {
        cost += plan->overflow[m].physical_bytes * plan->device->memory[m].price;
    }
    return cost;
}

/* Both orders leave local memory full: what the rest costs tells which is taken. */
static void test_order(void **state) {
    (void)state;
    static const char graph[] =
        "format onnx 13\ninput x0 int8[1,8,8,8]\ninput x1 int8[1,2,8,8]\nconst v float32[2,4,1,1] = unknown\n"
        "const w float32[2,2,1,1] = unknown\nvalue t0 int8[1,4,8,8]\nvalue t1 int8[1,4,4,4]\nvalue t2 int8[1,2,8,8]\n"
        "value t3 int8[1,12,8,8]\nvalue t4 int8[1,12,8,8]\nvalue t5 int8[1,2,8,8]\nvalue t6 int8[1,2,8,8]\n"
        "node Concat a: x1 x1 -> t0 axis=1\nnode MaxPool b: t0 -> t1 kernel_shape=[2,2] strides=[2,2]\n"
        "node Transpose c: x1 -> t2 perm=[0,1,3,2]\nnode Concat d: t0 x0 -> t3 axis=1\nnode Relu e: t3 -> t4\n"
        "node Conv f: t0 v -> t5\nnode Conv g: t5 w -> t6\noutput t6\noutput t2\noutput t4\noutput t1\n";
    static const char further[] =
        "[memory e0]\nbytes = 256 @ t\nalign_bytes = 1 @ t\noverflow = local @ t\nprice = 0 @ t\n"
        "[memory e1]\nbytes = unbounded @ t\nalign_bytes = 16 @ t\noverflow = local @ t\nprice = 3 @ t\n";
    uint64_t cost[2];
    for (int k = 0; k < 2; k++) {
        Planned planned;
        char device[1024];
        int length = snprintf(device, sizeof device, arena, "512", 16U, further, "unbounded");
        assert_in_range(length, 1, sizeof device - 1);
        planned_on(&planned, device, graph, &(PlanOptions){.in_place = true, .order_memory = k == 1});
        assert_true(plan_fits(planned.plan));
        cost[k] = cost_of(planned.plan);
        planned_free(&planned);
    }
    assert_true(cost[1] < cost[0]);
}

/* ---- What it lacks */

typedef struct {
    const char *what, *graph, *further, *flash;
    unsigned local, tcm;
    uint64_t local_lack, tcm_lack; /* 0: no size is enough */
} Lacking;

#define SIZED_TCM "[memory tcm]\nbytes = %u @ t\nalign_bytes = 8 @ t\noverflow = local @ t\nprice = 1 @ t\n"

static const Lacking lacking[] = {
    {"in units of 8", CHAIN, SIZED_TCM, "1K", 63, 63, 65, 65}, /* all in one, of 128 */
    {"one map each", CHAIN, SIZED_TCM, "1K", 64, 63, 64, 1},
    {"room for one, with a byte more", CHAIN, SIZED_TCM, "1K", 63, 64, 1, 64},
    {"nothing", CHAIN, SIZED_TCM, "1K", 1, 8, 127, 120},
    {"a view is no further map", VIEWED, SIZED_TCM, "1K", 63, 64, 1, 64},
    /* x0 of 64 and t0 t2 of 32 each at once: x0 goes to tcm alone, or with one of the others. */
    {"parts", SPLIT, SIZED_TCM, "1K", 40, 64, 24, 32},
};

static void plan_lacking(Planned *planned, const Lacking *row, uint64_t more_local, uint64_t more_tcm) {
    char further[256], local[32], device[1024];
    int length = snprintf(further, sizeof further, row->further, row->tcm + (unsigned)more_tcm);
    assert_in_range(length, 1, sizeof further - 1);
    snprintf(local, sizeof local, "%u", row->local + (unsigned)more_local);
    length = snprintf(device, sizeof device, arena, local, 1U, further, row->flash);
    assert_in_range(length, 1, sizeof device - 1);
    planned_on(planned, device, row->graph, &(PlanOptions){.in_place = true});
}

static bool fits_with(const Lacking *row, uint64_t more_local, uint64_t more_tcm) {
    Planned planned;
    plan_lacking(&planned, row, more_local, more_tcm);
    bool fits = plan_fits(planned.plan);
    planned_free(&planned);
    return fits;
}

static uint64_t lack_told(const Plan *plan, const char *kind) {
    for (uint32_t i = 0; i < plan->remedy_count; i++) {
        if (strcmp(plan->remedies[i].kind, kind) == 0) {
            return plan->remedies[i].saves_bytes;
        }
    }
    return 0;
}

/* What is told to be enough is, and a byte less is not. */
static void test_lack(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof lacking / sizeof lacking[0]; k++) {
        const Lacking *row = &lacking[k];
        Planned planned;
        print_message("%s\n", row->what);
        plan_lacking(&planned, row, 0, 0);
        assert_false(plan_fits(planned.plan));
        assert_int_equal(lack_told(planned.plan, "larger_memory"), row->local_lack);
        assert_int_equal(lack_told(planned.plan, "larger_overflow"), row->tcm_lack);
        assert_int_equal(planned.plan->lack_bytes, row->local_lack);
        assert_true(fits_with(row, row->local_lack, 0) && !fits_with(row, row->local_lack - 1, 0));
        assert_true(fits_with(row, 0, row->tcm_lack) && !fits_with(row, 0, row->tcm_lack - 1));
        planned_free(&planned);
    }
}

/* ---- Which order is kept */

/* Three maps of 1,024 are made of x, of 256, all at once or one after the other, and each made into one of 64. */
#define WIDE                                                                                                           \
    "format tflite\ninput x int8[1,8,8,4] scale=0.5\nconst w int8[16,1,1,4] scale=0.5 = splat 1\n"                     \
    "const v int8[1,1,1,16] scale=0.5 = splat 1\nvalue a int8[1,8,8,16] scale=0.5\n"                                   \
    "value b int8[1,8,8,16] scale=0.5\nvalue c int8[1,8,8,16] scale=0.5\nvalue d int8[1,8,8,1] scale=0.5\n"            \
    "value e int8[1,8,8,1] scale=0.5\nvalue f int8[1,8,8,1] scale=0.5\nvalue g int8[1,8,8,1] scale=0.5\n"              \
    "value y int8[1,8,8,1] scale=0.5\nnode Conv(CONV_2D) k: x w -> a\nnode Conv(CONV_2D) l: x w -> b\n"                \
    "node Conv(CONV_2D) m: x w -> c\nnode Conv(CONV_2D) n: a v -> d\nnode Conv(CONV_2D) o: b v -> e\n"                 \
    "node Conv(CONV_2D) p: c v -> f\nnode Add(ADD) q: d e -> g\nnode Add(ADD) r: g f -> y\noutput y\n"

/* Both orders fit and cost as much: then further memories have less in the one that is kept, 1,024 and not 3,072. */
static void test_order_further(void **state) {
    (void)state;
    static const uint64_t there[] = {3072, 1024};
    for (int k = 0; k < 2; k++) {
        Planned planned;
        char device[1024];
        int length = snprintf(device, sizeof device, arena, "512", 1U, TCM("4096", "2"), "unbounded");
        assert_in_range(length, 1, sizeof device - 1);
        planned_on(&planned, device, WIDE, &(PlanOptions){.in_place = true, .order_memory = k == 1});
        assert_true(plan_fits(planned.plan));
        assert_int_equal(cost_of(planned.plan), 2 * 3072);
        assert_int_equal(planned.plan->overflow[1].placed_bytes, there[k]);
        assert_true(k == 0 || (planned.plan->order->moved > 0 && plan_fits(planned.plan->order->of_file)));
        planned_free(&planned);
    }
}

/* Far memory is too small in any order, and local memory large enough in the file's: nothing is gained by another. */
static void test_order_far(void **state) {
    (void)state;
    static const char scratchpad[] =
        "[device]\nname = box\nkind = scratchpad\n[memory local]\nbytes = 4K @ t\nalign_bytes = 4 @ t\n"
        "[memory far]\nbytes = %s @ t\nalign_bytes = 4 @ t\n"
        "[contract]\nactivation = N H W C @ t\nweight = O H W I @ t\nparameter = N H W C @ t\n"
        "[parameter]\nscalar = 1 @ t\nchannel = 1 @ t\nrow = 1 @ t\nfull = 1 @ t\n";
    static const char *const far_bytes[] = {"100", "unbounded"};
    for (int k = 0; k < 2; k++) {
        Planned planned;
        char device[1024];
        snprintf(device, sizeof device, scratchpad, far_bytes[k]);
        planned_on(&planned, device, WIDE, &(PlanOptions){.in_place = true, .order_memory = true, .whole_tiles = true});
        const Plan *plan = planned.plan;
        assert_true(plan_local_fits(plan) && plan_fits(plan) == (k == 1));
        assert_true((plan->order->moved > 0) == (k == 1));
        assert_true((plan->order->of_file == plan) == (k == 0));
        planned_free(&planned);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overflow), cmocka_unit_test(test_far_map),       cmocka_unit_test(test_order),
        cmocka_unit_test(test_lack),     cmocka_unit_test(test_order_further), cmocka_unit_test(test_order_far),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
