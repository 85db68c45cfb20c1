/* The report of `stride0 simplify`: figures before and after, rules, what stays. */
#include "report/simplification.h"

#include "report/text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { INDENT = 2, MOST_SHOWN = 12, MOST_NAMES = 3 };

typedef struct {
    const Simplification *facts;
    uint32_t columns;
    Arena *scratch;
    FILE *out;
} Report;

static void add_change(Table *table, const char *what, uint64_t before, uint64_t after) {
    table_text(table, what);
    table_number(table, before);
    table_number(table, after);
}

static void add_peaks(const Report *r, Table *table, const char *how, Peak after) {
    const Simplification *facts = r->facts;
    add_change(table, arena_text(r->scratch, "peak alive on %s%s", facts->device, how), facts->before.live_bytes,
               after.live_bytes);
    add_change(table, arena_text(r->scratch, "placed on %s%s", facts->device, how), facts->before.placed_bytes,
               after.placed_bytes);
    if (facts->before.further_bytes > 0 || after.further_bytes > 0) {
        add_change(table, arena_text(r->scratch, "placed in further memories of %s%s", facts->device, how),
                   facts->before.further_bytes, after.further_bytes);
    }
}

static bool is_same_peak(Peak a, Peak b) {
    return a.live_bytes == b.live_bytes && a.placed_bytes == b.placed_bytes && a.further_bytes == b.further_bytes;
}

static void print_changes(const Report *r) {
    const Simplification *facts = r->facts;
    Table table;
    table_init(&table, r->scratch, "lrr");
    table_head(&table, (const char *const[]){"", "before", "after"});
    add_change(&table, "operators", facts->nodes_before, facts->nodes_after);
    add_change(&table, "bytes of constants", facts->simplified->constant_bytes_before,
               facts->simplified->constant_bytes_after);
    add_change(&table, "bytes of the file", facts->file_bytes_before, facts->file_bytes_after);
    if (facts->no_peaks == NULL) {
        if (!is_same_peak(facts->after_held, facts->after)) {
            add_peaks(r, &table, ", choices held", facts->after_held);
        }
        add_peaks(r, &table, "", facts->after);
    }
    table_print(&table, INDENT, r->columns, r->out);
    bool has_same_peak = facts->no_peaks == NULL && facts->before.live_bytes == facts->after.live_bytes &&
                         facts->before.further_bytes == facts->after.further_bytes;
    if (facts->no_peaks != NULL) {
        fprintf(r->out, "  no peaks: %s\n", facts->no_peaks);
    } else if (has_same_peak && facts->is_peak_of_maps && facts->rule_count > 0) {
        fputs("  the peak stays: it is of maps in local memory, constants lie in flash\n", r->out);
    }
}

/* Exact by a lemma or by enumeration; else what it may differ by. */
static const char *proof_text(const Report *r, const RuleTotal *rule) {
    if (rule->max_error > 0) {
        return arena_text(r->scratch,
                          rule->is_ulp ? "within %" PRIu64
                                         " ulp of the sum of magnitudes, rounding of the sum itself apart"
                                       : "differs by at most %" PRIu64 " LSB",
                          rule->max_error);
    }
    if (rule->evaluations == 0) {
        return rule->constant_bytes > 0 ? "exact by lemma; operators made it before, now it is stored"
                                        : "exact by lemma";
    }
    const char *verified = rule->verified > 0 ? ", checked again" : "";
    Str evaluations = text_number(r->scratch, rule->evaluations);
    return arena_text(r->scratch, "exact in " STR_FMT " evaluations%s", STR_ARG(evaluations), verified);
}

static Str bytes_text(const Report *r, int64_t bytes) {
    uint64_t magnitude = bytes < 0 ? (uint64_t)-bytes : (uint64_t)bytes;
    Str number = text_number(r->scratch, magnitude);
    const char *sign = bytes < 0 ? "-" : bytes > 0 ? "+" : "";
    return arena_format(r->scratch, "%s" STR_FMT, sign, STR_ARG(number));
}

/* What --verify did: a lemma has nothing to evaluate, a bound of floats is derived. */
static void print_verified(const Report *r) {
    const Simplification *facts = r->facts;
    uint64_t others = facts->simplified->rewrite_count - facts->verified_count;
    if (!facts->simplified->verify) {
        return;
    }
    Str evaluations = text_number(r->scratch, facts->verified_evaluations);
    fprintf(r->out, "  verified %" PRIu32 " certificate%s, " STR_FMT " evaluations by brute force",
            facts->verified_count, facts->verified_count == 1 ? "" : "s", STR_ARG(evaluations));
    if (others > 0) {
        Str count = text_number(r->scratch, others);
        fprintf(r->out, "; " STR_FMT " %s by lemma or bound, with nothing to evaluate", STR_ARG(count),
                others == 1 ? "is" : "are");
    }
    fputc('\n', r->out);
}

static void print_rules(const Report *r) {
    const Simplification *facts = r->facts;
    const Simplified *done = facts->simplified;
    int64_t rest = (int64_t)done->constant_bytes_after - (int64_t)done->constant_bytes_before; /* what no rule counts */
    Table table;
    if (facts->rule_count == 0) {
        fputs(facts->extent != SIMPLIFY_ALL ? "\nnothing that makes the file smaller: it is as it was\n"
                                            : "\nnothing to simplify: the file is as it was\n",
              r->out);
        return;
    }
    fputs("\nrewrites\n", r->out);
    table_init(&table, r->scratch, "srrrl");
    table_head(&table, (const char *const[]){"rule", "times", "operators", "bytes of constants", ""});
    for (uint32_t k = 0; k < facts->rule_count; k++) {
        const RuleTotal *rule = &facts->rules[k];
        table_text(&table, rule->rule);
        table_number(&table, rule->count);
        table_add(&table, bytes_text(r, -(int64_t)rule->nodes));
        table_add(&table, bytes_text(r, rule->constant_bytes));
        table_text(&table, proof_text(r, rule));
        rest -= rule->constant_bytes;
    }
    if (rest != 0) {
        table_text(&table, rest < 0 ? "no longer read" : "other");
        table_text(&table, "");
        table_text(&table, "");
        table_add(&table, bytes_text(r, rest));
        table_text(&table, "constants of what went");
    }
    table_print(&table, INDENT, r->columns, r->out);
    print_verified(r);
}

/* "Mul 'scaled'", and 'MUL#0' where the file has no name for it. */
static Str operator_text(const Report *r, const RewriteRefusal *refusal) {
    Str name = clean_text(r->scratch, refusal->node), op = clean_text(r->scratch, refusal->op);
    bool has_op = str_starts(name, op);
    return has_op ? name : arena_format(r->scratch, STR_FMT " '" STR_FMT "'", STR_ARG(op), STR_ARG(name));
}

/* All operators that stay for the reason of refusal `first`: "MUL#0" or "3 operators, MUL#0, MUL#4, MUL#6". */
static void print_group(const Report *r, size_t first, bool *is_shown) {
    const Simplified *done = r->facts->simplified;
    const char *names = "";
    uint32_t count = 0;
    for (size_t i = first; i < done->refusal_count; i++) {
        if (strcmp(done->refusals[i].reason, done->refusals[first].reason) != 0) {
            continue;
        }
        is_shown[i] = true;
        if (count++ < MOST_NAMES) {
            names = arena_text(r->scratch, "%s%s" STR_FMT, names, count == 1 ? "" : ", ",
                               STR_ARG(operator_text(r, &done->refusals[i])));
        }
    }
    Str reason = clean_text(r->scratch, str_from(done->refusals[first].reason));
    if (count == 1) {
        fprintf(r->out, "  %s: " STR_FMT "\n", names, STR_ARG(reason));
    } else {
        fprintf(r->out, "  %" PRIu32 " operators: " STR_FMT "\n      %s%s\n", count, STR_ARG(reason), names,
                count > MOST_NAMES ? ", ..." : "");
    }
}

static void print_refusals(const Report *r) {
    const Simplified *done = r->facts->simplified;
    bool *is_shown = arena_array(r->scratch, bool, done->refusal_count);
    uint32_t groups = 0;
    size_t left = 0;
    for (size_t i = 0; i < done->refusal_count; i++) {
        if (groups == MOST_SHOWN) {
            left += !is_shown[i];
        } else if (!is_shown[i]) {
            fputs(groups++ == 0 ? "\nper-channel affines that stay\n" : "", r->out);
            print_group(r, i, is_shown);
        }
    }
    if (left > 0) {
        fprintf(r->out, "  and %zu more: --json lists all\n", left);
    }
}

static const char *range_text(const Report *r, const double range[2]) {
    if (isinf(range[0]) && isinf(range[1])) {
        return "not limited";
    }
    return arena_text(r->scratch, "%g to %g", range[0], range[1]);
}

static bool is_range_told(const OutputRange *range) {
    bool is_open =
        isinf(range->before[0]) && isinf(range->before[1]) && isinf(range->after[0]) && isinf(range->after[1]);
    return !is_open;
}

static void print_ranges(const Report *r) {
    const Simplification *facts = r->facts;
    Table table;
    uint32_t told = 0;
    table_init(&table, r->scratch, "nll");
    table_head(&table, (const char *const[]){"output", "before", "after"});
    for (uint32_t k = 0; k < facts->output_count; k++) {
        if (!is_range_told(&facts->outputs[k])) {
            continue;
        }
        table_add(&table, facts->outputs[k].name);
        table_text(&table, range_text(r, facts->outputs[k].before));
        table_text(&table, range_text(r, facts->outputs[k].after));
        told++;
    }
    if (told > 0) {
        fputs("\nwhat outputs can hold\n", r->out);
        table_print(&table, INDENT, r->columns, r->out);
    }
}

void report_simplification(const Simplification *facts, uint32_t columns, Arena *scratch, FILE *out) {
    const Report report = {facts, columns, scratch, out};
    Str file = clean_text(scratch, str_from(facts->file));
    fprintf(out, STR_FMT "\n", STR_ARG(file));
    print_changes(&report);
    print_rules(&report);
    print_refusals(&report);
    print_ranges(&report);
}
