/* Proves by chance that the program of a plan computes what the model means: for random chains of per-channel
 * operators, element types, layouts, forms, schedules, tiles, aliases and budgets
 *   - the outputs of the simulated device are those of a reference that goes element by element, bit for bit;
 *   - no byte is read or written that may not be: no fault;
 *   - the audit holds: touched = estimated bytes of every buffer, used = declared workspace, traffic and cycles of each
 *     column = those that the planner books.
 * A case that fails is told by its seed, and again made as small as it goes.
 *
 * The environment tells S0_CASES, how many to run, and S0_SEED, the first; S0_GO_ON: to go on after one that fails;
 * S0_SHRINK: to make each case small, also one that ends the program; S0_TELL: why cases do not count; S0_DUMP: a file
 * for the commands of the last one. */
#include "cmd/text.h"
#include "plan/plan_cost.h"
#include "program/program.h"
#include "sim/sim.h"

#include "program/coverage.h"
#include "program/drawn_device.h"
#include "program/reference.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEFAULT_CASES = 2000, COVERED_CASES = 20000 }; /* so many reach every value of coverage.h */

typedef enum { PASSED, FAILED, NO_VALUE_THERE, NOT_KNOWN, NO_FIT, REFUSED, OUTCOMES } Outcome;

typedef struct {
    Outcome outcome;
    char why[4096];
} Verdict;

static Outcome decide(Verdict *verdict, Outcome outcome, const char *format, ...) __attribute__((format(printf, 3, 4)));

static Outcome decide(Verdict *verdict, Outcome outcome, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(verdict->why, sizeof verdict->why, format, args);
    va_end(args);
    verdict->outcome = outcome;
    return outcome;
}

static Outcome decide_by_messages(Verdict *verdict, Outcome outcome, const Work *work, const char *what) {
    char *messages = messages_of(work);
    bool is_silent = *messages == '\0';
    decide(verdict, is_silent ? FAILED : outcome, "%s: %s", what, is_silent ? "refused without a word" : messages);
    free(messages);
    return outcome;
}

/* ---- Reference */

static const Node *find_node(const Graph *graph, Str name) {
    const Block *block = graph_main(graph);
    for (uint32_t k = 0; k < block->node_count; k++) {
        if (str_eq(graph_node(graph, block->nodes[k])->name, name)) {
            return graph_node(graph, block->nodes[k]);
        }
    }
    fail_msg("no node " STR_FMT, STR_ARG(name));
    return NULL;
}

static Semantics semantics_of(const Drawn *drawn) {
    static const Semantics tflite[] = {S0_SEM_TFLITE_DOUBLE, S0_SEM_TFLITE_SINGLE, S0_SEM_CMSIS};
    return drawn->is_tflite ? tflite[drawn->genes->gene[GENE_SALT] % 3] : S0_SEM_ONNX;
}

static bool is_param(const DrawnNode *node, uint32_t input) {
    bool is_one = false;
    for (uint32_t k = 0; k < node->param_count; k++) {
        is_one = is_one || node->input[k] == input;
    }
    return is_one;
}

/* What each node gives, before anything is folded. */
static Outcome compute_reference(const Drawn *drawn, const Graph *graph, const uint8_t *packed, Map *maps,
                                 Verdict *verdict) {
    Map input = map_of_input(drawn, packed);
    for (uint32_t k = 0; k < drawn->node_count; k++) {
        NodeStages stages;
        const char *why;
        if (!node_stages(graph, find_node(graph, drawn->node[k].name), &stages, &why)) {
            return decide(verdict, NOT_KNOWN, "%s", why);
        }
        if (stages.is_spread || is_param(&drawn->node[k], stages.data_input)) {
            return decide(verdict, NOT_KNOWN, "what the caller gives in place of a parameter is the map");
        }
        const Map *from = drawn->node[k].from == 0 ? &input : &maps[drawn->node[k].from - 1];
        if (!run_node(drawn, &drawn->node[k], &stages, semantics_of(drawn), from, &maps[k], &why)) {
            return decide(verdict, NO_VALUE_THERE, "%s", why);
        }
    }
    return PASSED;
}

/* ---- The audit */

static Outcome check_buffers(const BuiltProgram *built, const SimResult *result, Verdict *verdict) {
    const CmdProgram *program = built->program;
    for (uint32_t k = 0; k < program->buffer_count; k++) {
        const CmdBuffer *buffer = &program->buffers[k];
        if (buffer->kind != CMD_BUFFER_WORKSPACE && built->footprint_bytes[k] != buffer->bytes) {
            return decide(verdict, FAILED, "buffer %" PRIu32 " '" STR_FMT "': reserves %" PRIu64 ", footprint %" PRIu64,
                          k, STR_ARG(buffer->name), buffer->bytes, built->footprint_bytes[k]);
        }
        if (result->buffer[k].touched_bytes != buffer->estimated_bytes) {
            return decide(verdict, FAILED, "buffer %" PRIu32 " '" STR_FMT "': touched %" PRIu64 ", estimated %" PRIu64,
                          k, STR_ARG(buffer->name), result->buffer[k].touched_bytes, buffer->estimated_bytes);
        }
        if (buffer->kind == CMD_BUFFER_WORKSPACE && result->buffer[k].used_bytes != buffer->bytes) {
            return decide(verdict, FAILED, "workspace %" PRIu32 ": used %" PRIu64 ", declared %" PRIu64, k,
                          result->buffer[k].used_bytes, buffer->bytes);
        }
    }
    return PASSED;
}

static Outcome check_column(const char *name, const SimColumn *measured, const ColumnCost *booked, Verdict *verdict) {
    bool is_move = booked->bytes > 0;
    bool same = measured->commands == booked->commands && measured->descriptors == booked->descriptors &&
                measured->bursts == booked->bursts && measured->cycles == booked->cycles &&
                (!is_move || (measured->read_bytes == booked->bytes && measured->written_bytes == booked->bytes));
    return same ? PASSED
                : decide(verdict, FAILED,
                         "%s: measured %" PRIu64 " commands %" PRIu64 " descriptors %" PRIu64 " bursts %" PRIu64
                         " cycles %" PRIu64 " bytes; booked %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
                         name, measured->commands, measured->descriptors, measured->bursts, measured->cycles,
                         measured->written_bytes, booked->commands, booked->descriptors, booked->bursts, booked->cycles,
                         booked->bytes);
}

static Outcome check_cost(const Plan *plan, const CmdProgram *program, const SimResult *result, Verdict *verdict) {
    const SimColumn *column = result->column;
    SimColumn engine = {0};
    ColumnCost booked = {0}; /* of the engine */
    PlanCost cost;
    if (!plan_cost(plan, &cost) || cost.unbooked_steps > 0) {
        return decide(verdict, FAILED, "the plan has no cost");
    }
    for (CmdColumn k = CMD_COLUMN_MULTIPLY; k <= CMD_COLUMN_REQUANTIZE; k++) {
        engine.commands += column[k].commands;
        engine.cycles += column[k].cycles;
    }
    for (Column k = COLUMN_MULTIPLY; k <= COLUMN_COMPUTE; k++) {
        booked.commands += cost.column[k].commands;
        booked.cycles += cost.column[k].cycles;
    }
    if (check_column("load_input", &column[CMD_COLUMN_LOAD_INPUT], &cost.column[COLUMN_LOAD_INPUT], verdict) !=
            PASSED ||
        check_column("load_param", &column[CMD_COLUMN_LOAD_PARAM], &cost.column[COLUMN_LOAD_PARAM], verdict) !=
            PASSED ||
        check_column("store", &column[CMD_COLUMN_STORE], &cost.column[COLUMN_STORE], verdict) != PASSED ||
        check_column("compute", &engine, &booked, verdict) != PASSED) {
        return FAILED;
    }
    if (result->cycles != cost.cycles || result->cycles != program->booked_cycles || result->syncs != cost.syncs) {
        return decide(verdict, FAILED, "cycles %" PRIu64 ", syncs %" PRIu64 "; booked %" PRIu64 ", %" PRIu64,
                      result->cycles, result->syncs, cost.cycles, cost.syncs);
    }
    return PASSED;
}

/* ---- Outputs */

static Outcome check_output(const Drawn *drawn, const Sim *sim, const HostBuffer *output, const Map *map, Str name,
                            Verdict *verdict) {
    uint64_t unwritten;
    Span expected = pack_map(drawn, map);
    Span got = sim_read(sim, output->buffer, &drawn->work->keep, &unwritten);
    if (unwritten > 0 || got.len != expected.len) {
        return decide(verdict, FAILED, "output " STR_FMT ": %" PRIu64 " elements are not written", STR_ARG(name),
                      unwritten);
    }
    uint32_t bits = dtype_bits(map->dtype);
    for (uint64_t k = 0; k < elements_of(drawn); k++) {
        uint64_t want = packed_read(expected.ptr, k, bits), have = packed_read(got.ptr, k, bits);
        if (want != have) {
            return decide(verdict, FAILED, "output " STR_FMT ": element %" PRIu64 " is %" PRIx64 ", expected %" PRIx64,
                          STR_ARG(name), k, have, want);
        }
    }
    return PASSED;
}

static Outcome check_outputs(const Drawn *drawn, const Graph *graph, const BuiltProgram *built, const Sim *sim,
                             const Map *maps, Verdict *verdict) {
    uint32_t found = 0;
    for (uint32_t k = 0; k < drawn->node_count; k++) {
        Str name = arena_format(&drawn->work->keep, "v%u", (unsigned)k);
        for (uint32_t o = 0; o < built->output_count && drawn->node[k].is_output; o++) {
            if (str_eq(graph_value(graph, built->outputs[o].value)->name, name)) {
                found++;
                if (check_output(drawn, sim, &built->outputs[o], &maps[k], name, verdict) != PASSED) {
                    return FAILED;
                }
            }
        }
    }
    return found == graph_main(graph)->output_count ? PASSED : decide(verdict, FAILED, "an output is missing");
}

/* ---- A case */

static Outcome check_faults(const CmdProgram *program, const SimResult *result, Verdict *verdict) {
    if (result->fault_count == 0) {
        return PASSED;
    }
    const SimFault *fault = &result->fault[0];
    return decide(verdict, FAILED,
                  "%" PRIu64 " faults; %s: command %d, other %d, buffer %" PRIu32 " '" STR_FMT "', lane %" PRIu64
                  " byte %" PRIu64 ": %s",
                  result->fault_count, sim_fault_name(fault->kind), (int)fault->command, (int)fault->other,
                  fault->buffer, STR_ARG(program->buffers[fault->buffer].name), fault->lane, fault->byte, fault->text);
}

static const char *dump; /* a file that the program of a case is written to */

/* The parameter that the caller gives as this input; null: it is the map. */
static const DrawnParam *find_given(const Drawn *drawn, Str name) {
    for (uint32_t n = 0; n < drawn->node_count; n++) {
        for (uint32_t k = 0; k < drawn->node[n].param_count; k++) {
            const DrawnParam *param = &drawn->node[n].param[k];
            if (param->is_given && str_eq(name, str_from(param_name(drawn, param)))) {
                return param;
            }
        }
    }
    return NULL;
}

static Outcome simulate(const Drawn *drawn, const Plan *plan, const BuiltProgram *built, Span input, const Map *maps,
                        Verdict *verdict) {
    Sim *sim = sim_new(built->program, plan->device, drawn->work);
    if (sim == NULL) {
        return decide_by_messages(verdict, FAILED, drawn->work, "simulator");
    }
    for (uint32_t k = 0; k < built->input_count; k++) {
        Str name = graph_value(plan->graph, built->inputs[k].value)->name;
        const DrawnParam *given = find_given(drawn, name);
        Span packed = given == NULL ? input : (Span){given->packed, (size_t)given->bytes};
        assert_true(sim_write(sim, built->inputs[k].buffer, packed));
    }
    const SimResult *result = sim_run(sim);
    if (check_faults(built->program, result, verdict) != PASSED ||
        check_outputs(drawn, plan->graph, built, sim, maps, verdict) != PASSED ||
        check_buffers(built, result, verdict) != PASSED ||
        check_cost(plan, built->program, result, verdict) != PASSED) {
        return FAILED;
    }
    return PASSED;
}

/* As the text says; null where the case is wrong. */
static Graph *read_graph(const Drawn *drawn, Work *work) {
    Span text = {(const uint8_t *)drawn->graph_text, drawn->graph_length};
    LayoutBinding layout = {.tensor = STR("x"), .is_channel_second = true};
    Graph *graph = graph_parse_text(work, text, STR("drawn"));
    bool ok = graph != NULL && graph_check(graph, work) && graph_inline(graph, work) &&
              graph_bind_dims(graph, NULL, 0, work) && graph_infer(graph, work) &&
              graph_assign_names(graph, &layout, drawn->is_channel_second ? 1 : 0, work);
    return ok ? graph : NULL;
}

static const Plan *plan_drawn(const Drawn *drawn, const Graph *graph, Verdict *verdict) {
    Work *work = drawn->work;
    const Device *device = device_parse(work, (Str){drawn->device_text, drawn->device_length}, STR("drawn.ini"));
    PlanOptions options = drawn->options;
    if (device == NULL) {
        decide_by_messages(verdict, FAILED, work, "the case is wrong");
        return NULL;
    }
    const Plan *plan = plan_make(graph, device, &options, work);
    if (plan == NULL) {
        decide_by_messages(verdict, REFUSED, work, "plan");
    }
    return plan;
}

enum { MOST_BYTES = 1 << 22 }; /* of local memory: the simulated device is slow to begin with more */

/* A plan that fits: where memory is too small it gets what the plan needs, to the byte. */
static const Plan *plan_to_fit(Drawn *drawn, const Graph *graph, Verdict *verdict) {
    const Plan *plan = plan_drawn(drawn, graph, verdict);
    for (uint32_t again = 0; again < 2 && plan != NULL && !plan_fits(plan); again++) {
        if (again == 1 || plan->placed_bytes > MOST_BYTES) {
            decide(verdict, NO_FIT, "needs %" PRIu64, plan->placed_bytes);
            return NULL;
        }
        draw_just_enough(drawn, plan->placed_bytes);
        plan = plan_drawn(drawn, graph, verdict);
    }
    return plan;
}

static void dump_program(const CmdProgram *program) {
    if (dump != NULL) {
        FILE *out = fopen(dump, "w");
        cmd_print(program, out);
        fclose(out);
    }
}

static Outcome run_drawn(Drawn *drawn, Coverage *coverage, Verdict *verdict) {
    Work *work = drawn->work;
    uint64_t bytes;
    uint8_t *packed = pack(drawn, drawn->input_dtype, elements_of(drawn), 1, false, &bytes);
    Graph *graph = read_graph(drawn, work);
    if (graph == NULL) {
        return decide_by_messages(verdict, FAILED, work, "the case is wrong");
    }
    Map maps[MOST_NODES + 1];
    if (compute_reference(drawn, graph, packed, maps, verdict) != PASSED) {
        return verdict->outcome;
    }
    if (gene(drawn, GENE_FOLD, 2) == 1 && !graph_fold_qdq(graph, work)) {
        return decide_by_messages(verdict, FAILED, work, "folding");
    }
    const Plan *plan = plan_to_fit(drawn, graph, verdict);
    if (plan == NULL) {
        return verdict->outcome;
    }
    const BuiltProgram *built = program_build(plan, semantics_of(drawn), work);
    if (built == NULL) {
        return decide_by_messages(verdict, REFUSED, work, "program");
    }
    dump_program(built->program);
    if (simulate(drawn, plan, built, (Span){packed, (size_t)bytes}, maps, verdict) == PASSED && coverage != NULL) {
        cover_case(coverage, drawn, plan);
    }
    return verdict->outcome;
}

/* Before it is run: it may end the program. */
static void tell_case(const Drawn *drawn) {
    const PlanOptions *options = &drawn->options;
    fprintf(stderr,
            "%s\n%sschedule %s tile rows %" PRIu64 "%s budget %" PRIu64 " strategy %d in place %d fold %d names %s\n",
            drawn->graph_text, drawn->device_text, schedule_name(options->schedule), options->tile_rows,
            options->whole_tiles ? " whole" : "", options->budget_bytes, (int)options->strategy, (int)options->in_place,
            (int)gene(drawn, GENE_FOLD, 2), drawn->is_channel_second ? "N C H W" : "as they are");
}

static Verdict run_genes(const Genes *genes, Coverage *coverage, bool tells) {
    Verdict verdict = {.outcome = PASSED};
    Work work;
    Drawn drawn;
    WORK_BEGIN(&work);
    draw_case(&drawn, genes, &work);
    if (tells) {
        tell_case(&drawn);
    }
    verdict.outcome = run_drawn(&drawn, coverage, &verdict);
    if (tells) {
        fprintf(stderr, "memory %" PRIu64 "\n%s\n", drawn.local_bytes, verdict.why);
    }
    free_case(&drawn);
    work_free(&work);
    return verdict;
}

/* ---- A case that fails, made small */

/* In a process of its own: one that ends the program fails too. */
static bool fails(const Genes *genes) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int quiet = dup2(open("/dev/null", O_WRONLY), 2);
        _exit(quiet < 0 || run_genes(genes, NULL, false).outcome == FAILED);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

static bool try_gene(Genes *genes, uint32_t k, uint16_t value) {
    Genes other = *genes;
    other.gene[k] = value;
    if (value >= genes->gene[k] || !fails(&other)) {
        return false;
    }
    *genes = other;
    return true;
}

/* The nodes after it take its place. */
static bool try_without_node(Genes *genes, uint32_t k) {
    Genes other = *genes;
    uint32_t last = genes->gene[GENE_NODES] % MOST_NODES;
    uint16_t *node = &other.gene[GENE_NODE + k * NODE_GENES];
    if (k >= last) {
        return false;
    }
    memmove(node, node + NODE_GENES, (size_t)(last - k) * NODE_GENES * sizeof *node);
    other.gene[GENE_NODES] = (uint16_t)(last - 1);
    if (!fails(&other)) {
        return false;
    }
    *genes = other;
    return true;
}

static bool shrink_gene(Genes *genes, uint32_t k) {
    bool is_less = false;
    for (uint16_t value = 0; value < 4 && !is_less; value++) {
        is_less = try_gene(genes, k, value);
    }
    uint16_t gene = genes->gene[k];
    return is_less ||
           (gene > 4 && (try_gene(genes, k, (uint16_t)(gene / 2)) || try_gene(genes, k, (uint16_t)(gene - 1))));
}

/* A multiple of all numbers of choices: genes may be reduced by it, but for the salt, which is no choice. */
enum { LEAST_COMMON = 27720 };

static void shrink_case(Genes *genes) {
    bool is_smaller = true;
    for (uint32_t k = 0; k < GENES; k++) {
        genes->gene[k] = k == GENE_SALT ? genes->gene[k] : genes->gene[k] % LEAST_COMMON;
    }
    for (int round = 0; is_smaller && round < 12; round++) {
        is_smaller = false;
        for (uint32_t k = 0; k < MOST_NODES; k++) {
            is_smaller = try_without_node(genes, k) || is_smaller;
        }
        for (uint32_t k = 0; k < GENES; k++) {
            is_smaller = shrink_gene(genes, k) || is_smaller;
        }
    }
}

static uint64_t running_seed;

static void tell_seed(int number) {
    char text[64];
    int length = snprintf(text, sizeof text, "\nseed %" PRIu64 "\n", running_seed);
    if (write(2, text, (size_t)length) < 0) {
        _exit(number);
    }
    signal(number, SIG_DFL);
    raise(number);
}

static uint64_t number_of_environment(const char *name, uint64_t absent) {
    const char *text = getenv(name);
    return text == NULL || *text == '\0' ? absent : strtoull(text, NULL, 10);
}

typedef struct {
    uint64_t first, count;
    bool shrinks, goes_on, tells;
} Asked;

/* Made small and told. */
static void tell_small(Genes genes) {
    shrink_case(&genes);
    run_genes(&genes, NULL, true);
}

static void run_seed(const Asked *asked, uint64_t seed, Coverage *coverage, uint64_t outcomes[OUTCOMES]) {
    Genes genes = draw_genes(seed);
    running_seed = seed;
    if (asked->shrinks) {
        tell_small(genes);
        return;
    }
    Verdict verdict = run_genes(&genes, coverage, false);
    outcomes[verdict.outcome]++;
    if (asked->tells && verdict.outcome >= NO_VALUE_THERE) {
        print_message("%d seed %" PRIu64 ": %s\n", (int)verdict.outcome, seed, verdict.why);
    }
    if (verdict.outcome == FAILED) {
        print_message("seed %" PRIu64 ": %s\n", seed, verdict.why);
        if (!asked->goes_on) {
            tell_small(genes);
            fail_msg("seed %" PRIu64, seed);
        }
    }
}

static void test_random(void **state) {
    (void)state;
    const Asked asked = {.first = number_of_environment("S0_SEED", 1),
                         .count = number_of_environment("S0_CASES", DEFAULT_CASES),
                         .shrinks = getenv("S0_SHRINK") != NULL,
                         .goes_on = getenv("S0_GO_ON") != NULL,
                         .tells = getenv("S0_TELL") != NULL};
    uint64_t outcomes[OUTCOMES] = {0};
    Coverage coverage = {0};
    dump = getenv("S0_DUMP");
    signal(SIGABRT, tell_seed);
    for (uint64_t seed = asked.first; seed < asked.first + asked.count; seed++) {
        run_seed(&asked, seed, &coverage, outcomes);
    }
    if (asked.shrinks) {
        return;
    }
    uint32_t holes = cover_print(&coverage);
    print_message("%" PRIu64 " passed, %" PRIu64 " failed, %" PRIu64 " without a value, %" PRIu64 " not known, %" PRIu64
                  " too large, %" PRIu64 " refused\n",
                  outcomes[PASSED], outcomes[FAILED], outcomes[NO_VALUE_THERE], outcomes[NOT_KNOWN], outcomes[NO_FIT],
                  outcomes[REFUSED]);
    assert_int_equal(outcomes[FAILED], 0);
    assert_true(outcomes[PASSED] * 10 > asked.count * 9 || asked.count < DEFAULT_CASES);
    assert_true(holes == 0 || asked.count < COVERED_CASES);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
