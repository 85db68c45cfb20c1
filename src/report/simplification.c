/* The report of `stride0 simplify`: figures before and after, rules, what stays. */
#include "report/simplification.h"

#include "report/text.h"

#include <inttypes.h>
#include <math.h>

enum { INDENT = 2, MOST_SHOWN = 12 };

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
        add_peaks(r, &table, ", choices held", facts->after_held);
        add_peaks(r, &table, "", facts->after);
    }
    table_print(&table, INDENT, r->columns, r->out);
    if (facts->no_peaks != NULL) {
        fprintf(r->out, "  no peaks: %s\n", facts->no_peaks);
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
        return "exact by lemma";
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

static void print_rules(const Report *r) {
    const Simplification *facts = r->facts;
    Table table;
    if (facts->rule_count == 0) {
        fputs("\nnothing to simplify: the file is as it was\n", r->out);
        return;
    }
    fputs("\nrewrites\n", r->out);
    table_init(&table, r->scratch, "lrrrl");
    table_head(&table, (const char *const[]){"rule", "times", "operators", "constants", ""});
    for (uint32_t k = 0; k < facts->rule_count; k++) {
        const RuleTotal *rule = &facts->rules[k];
        table_text(&table, rule->rule);
        table_number(&table, rule->count);
        table_add(&table, bytes_text(r, -(int64_t)rule->nodes));
        table_add(&table, bytes_text(r, rule->constant_bytes));
        table_text(&table, proof_text(r, rule));
    }
    table_print(&table, INDENT, r->columns, r->out);
}

static void print_refusals(const Report *r) {
    const Simplified *done = r->facts->simplified;
    if (done->refusal_count == 0) {
        return;
    }
    fputs("\nper-channel affines that stay\n", r->out);
    for (size_t i = 0; i < done->refusal_count && i < MOST_SHOWN; i++) {
        const RewriteRefusal *refusal = &done->refusals[i];
        Str node = clean_text(r->scratch, refusal->node);
        Str reason = clean_text(r->scratch, str_from(refusal->reason));
        fprintf(r->out, "  " STR_FMT ": " STR_FMT "\n", STR_ARG(node), STR_ARG(reason));
    }
    if (done->refusal_count > MOST_SHOWN) {
        fprintf(r->out, "  and %zu more\n", done->refusal_count - MOST_SHOWN);
    }
}

static const char *range_text(const Report *r, const double range[2]) {
    if (isinf(range[0]) && isinf(range[1])) {
        return "not limited";
    }
    return arena_text(r->scratch, "%g to %g", range[0], range[1]);
}

static void print_ranges(const Report *r) {
    const Simplification *facts = r->facts;
    Table table;
    fputs("\nwhat outputs can hold\n", r->out);
    table_init(&table, r->scratch, "nll");
    table_head(&table, (const char *const[]){"output", "before", "after"});
    for (uint32_t k = 0; k < facts->output_count; k++) {
        table_add(&table, facts->outputs[k].name);
        table_text(&table, range_text(r, facts->outputs[k].before));
        table_text(&table, range_text(r, facts->outputs[k].after));
    }
    table_print(&table, INDENT, r->columns, r->out);
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
