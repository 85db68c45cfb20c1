/* A property that holds of every case: runs cases by their seeds, and makes one that fails small.
 *
 * The environment tells S0_CASES, how many to run, and S0_SEED, the first; S0_GO_ON: to go on after one that fails;
 * S0_SHRINK: to make each case small, also one that ends the program; S0_TELL: why cases do not count; S0_DUMP: a file
 * for the commands of the last one. Needs the Coverage of program/cover.h. */
#ifndef S0_TESTS_PROGRAM_CHANCE_H
#define S0_TESTS_PROGRAM_CHANCE_H

#include "program/drawn_device.h"
#include "program/verdict.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
    uint32_t default_cases, covered_cases;              /* so many reach every value of the table */
    uint32_t most_nodes, node_genes;                    /* from GENE_NODE on */
    void (*draw)(Drawn *drawn);                         /* the graph's text */
    const Plan *(*run)(Drawn *drawn, Verdict *verdict); /* null where there is no plan */
    void (*cover)(Coverage *coverage, const Drawn *drawn, const Plan *plan);
} Property;

/* Before it is run: it may end the program. */
static inline void tell_case(const Drawn *drawn) {
    const PlanOptions *options = &drawn->options;
    fprintf(stderr,
            "%s\n%sschedule %s tile %" PRIu64 "x%" PRIu64 "%s parameters %d budget %" PRIu64
            " strategy %d expand before %d in place %d order %d fold %d names %s\n",
            drawn->graph_text, drawn->device_text, schedule_name(options->schedule), options->tile_rows,
            options->tile_channels, options->whole_tiles ? " whole" : "", (int)options->parameters,
            options->budget_bytes, (int)options->strategy, (int)options->expand_before, (int)options->in_place,
            (int)options->order_memory, (int)gene(drawn, GENE_FOLD, 2),
            drawn->is_channel_second ? "N C H W" : "as they are");
}

/* `coverage` is null where it does not count. */
static inline Verdict run_genes(const Property *property, const Genes *genes, Coverage *coverage, bool tells) {
    Verdict verdict = {.outcome = PASSED};
    Work work;
    Drawn drawn;
    WORK_BEGIN(&work);
    draw_case(&drawn, genes, property->draw, &work);
    if (tells) {
        tell_case(&drawn);
    }
    const Plan *plan = property->run(&drawn, &verdict);
    if (plan != NULL && coverage != NULL) {
        property->cover(coverage, &drawn, plan);
    }
    if (tells) {
        fprintf(stderr, "memory %" PRIu64 "\n%s\n", drawn.local_bytes, verdict.why);
    }
    free_case(&drawn);
    work_free(&work);
    return verdict;
}

/* ---- A case that fails, made small */

/* In a process of its own: one that ends the program fails too. */
static inline bool fails(const Property *property, const Genes *genes) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int quiet = dup2(open("/dev/null", O_WRONLY), 2);
        _exit(quiet < 0 || run_genes(property, genes, NULL, false).outcome == FAILED);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

static inline bool try_gene(const Property *property, Genes *genes, uint32_t k, uint16_t value) {
    Genes other = *genes;
    other.gene[k] = value;
    if (value >= genes->gene[k] || !fails(property, &other)) {
        return false;
    }
    *genes = other;
    return true;
}

/* The nodes after it take its place. */
static inline bool try_without_node(const Property *property, Genes *genes, uint32_t k) {
    Genes other = *genes;
    uint32_t last = genes->gene[GENE_NODES] % property->most_nodes;
    uint16_t *node = &other.gene[GENE_NODE + k * property->node_genes];
    if (k >= last) {
        return false;
    }
    memmove(node, node + property->node_genes, (size_t)(last - k) * property->node_genes * sizeof *node);
    other.gene[GENE_NODES] = (uint16_t)(last - 1);
    if (!fails(property, &other)) {
        return false;
    }
    *genes = other;
    return true;
}

static inline bool shrink_gene(const Property *property, Genes *genes, uint32_t k) {
    bool is_less = false;
    for (uint16_t value = 0; value < 4 && !is_less; value++) {
        is_less = try_gene(property, genes, k, value);
    }
    uint16_t gene = genes->gene[k];
    return is_less || (gene > 4 && (try_gene(property, genes, k, (uint16_t)(gene / 2)) ||
                                    try_gene(property, genes, k, (uint16_t)(gene - 1))));
}

/* A multiple of all numbers of choices: genes may be reduced by it, but for the salt, which is no choice. */
enum { LEAST_COMMON = 27720 };

static inline void shrink_case(const Property *property, Genes *genes) {
    bool is_smaller = true;
    for (uint32_t k = 0; k < GENES; k++) {
        genes->gene[k] = k == GENE_SALT ? genes->gene[k] : genes->gene[k] % LEAST_COMMON;
    }
    for (int round = 0; is_smaller && round < 12; round++) {
        is_smaller = false;
        for (uint32_t k = 0; k < property->most_nodes; k++) {
            is_smaller = try_without_node(property, genes, k) || is_smaller;
        }
        for (uint32_t k = 0; k < GENES; k++) {
            is_smaller = shrink_gene(property, genes, k) || is_smaller;
        }
    }
}

static uint64_t running_seed;

static inline void tell_seed(int number) {
    char text[64];
    int length = snprintf(text, sizeof text, "\nseed %" PRIu64 "\n", running_seed);
    if (write(2, text, (size_t)length) < 0) {
        _exit(number);
    }
    signal(number, SIG_DFL);
    raise(number);
}

static inline uint64_t number_of_environment(const char *name, uint64_t absent) {
    const char *text = getenv(name);
    return text == NULL || *text == '\0' ? absent : strtoull(text, NULL, 10);
}

typedef struct {
    uint64_t first, count;
    bool shrinks, goes_on, tells;
} Asked;

/* Made small and told. */
static inline void tell_small(const Property *property, Genes genes) {
    shrink_case(property, &genes);
    run_genes(property, &genes, NULL, true);
}

static inline void run_seed(const Property *property, const Asked *asked, uint64_t seed, Coverage *coverage,
                            uint64_t outcomes[OUTCOMES]) {
    Genes genes = draw_genes(seed);
    running_seed = seed;
    if (asked->shrinks) {
        tell_small(property, genes);
        return;
    }
    Verdict verdict = run_genes(property, &genes, coverage, false);
    outcomes[verdict.outcome]++;
    if (asked->tells && verdict.outcome >= NO_VALUE_THERE) {
        print_message("%d seed %" PRIu64 ": %s\n", (int)verdict.outcome, seed, verdict.why);
    }
    if (verdict.outcome == FAILED) {
        print_message("seed %" PRIu64 ": %s\n", seed, verdict.why);
        if (!asked->goes_on) {
            tell_small(property, genes);
            fail_msg("seed %" PRIu64, seed);
        }
    }
}

static inline void run_property(const Property *property) {
    const Asked asked = {.first = number_of_environment("S0_SEED", 1),
                         .count = number_of_environment("S0_CASES", property->default_cases),
                         .shrinks = getenv("S0_SHRINK") != NULL,
                         .goes_on = getenv("S0_GO_ON") != NULL,
                         .tells = getenv("S0_TELL") != NULL};
    uint64_t outcomes[OUTCOMES] = {0};
    Coverage coverage = {0};
    signal(SIGABRT, tell_seed);
    for (uint64_t seed = asked.first; seed < asked.first + asked.count; seed++) {
        run_seed(property, &asked, seed, &coverage, outcomes);
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
    assert_true(outcomes[PASSED] * 10 > asked.count * 9 || asked.count < property->default_cases);
    assert_true(holes == 0 || asked.count < property->covered_cases);
}

#endif
