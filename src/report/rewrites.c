/* What was rewritten before planning, by rule, and what disappeared with it. */
#include "ledger/simplification.h"
#include "report/page.h"

#include <inttypes.h>

enum { MOST_SHOWN = 6 };

static void print_rules(const Page *page, const RuleTotal *rules, uint32_t count) {
    static const char *const heads[] = {"times", "operators", "evaluations", "rule"};
    Table table;
    table_init(&table, page->scratch, "rrrl");
    table_head(&table, heads);
    for (uint32_t k = 0; k < count; k++) {
        table_number(&table, rules[k].count);
        table_number(&table, rules[k].nodes);
        table_number(&table, rules[k].evaluations);
        table_text(&table, rules[k].rule);
    }
    table_print(&table, PAGE_INDENT, page->style.columns, page->out);
}

static Str name_of(const Page *page, ValueId id) {
    Str name = clean_text(page->scratch, graph_value(page->facts->graph, id)->name);
    return text_clip_name(page->scratch, name, (TextCut){page->style.columns / 2, TEXT_CUT_SIXTHS, 0});
}

/* "gone: 'a' (64 bytes), 'b' (4 bytes), and 3 more" */
static void print_constants(const Page *page, const Vanished *vanished) {
    const char *list = "";
    for (uint32_t k = 0; k < vanished->constant_count && k < MOST_SHOWN; k++) {
        uint64_t bytes = graph_value(page->facts->graph, vanished->constants[k])->constant->bytes.len;
        list = arena_text(page->scratch, "%s%s'" STR_FMT "' (%s)", list, k == 0 ? "" : ", ",
                          STR_ARG(name_of(page, vanished->constants[k])), page_count(page, bytes, "byte"));
    }
    if (vanished->constant_count > 0) {
        page_line(page, "%s of %s gone: %s%s", page_count(page, vanished->constant_count, "constant"),
                  page_count(page, vanished->constant_bytes, "byte"), list,
                  vanished->constant_count > MOST_SHOWN ? ", and others" : "");
    }
}

/* The constants that were stored larger than they need be (cases A1, A2). */
static void print_collapsed(const Page *page, const Simplified *simplified) {
    uint32_t shown = 0;
    for (size_t i = 0; i < simplified->rewrite_count && shown < MOST_SHOWN; i++) {
        const Rewrite *rewrite = &simplified->rewrites[i];
        if (rewrite->bytes_before <= rewrite->bytes_after) {
            continue;
        }
        Str name = clean_text(page->scratch, rewrite->node);
        page_line(page, "collapsed: " STR_FMT " -> " STR_FMT " bytes, bit-identical: '" STR_FMT "'",
                  STR_ARG(page_number(page, rewrite->bytes_before)), STR_ARG(page_number(page, rewrite->bytes_after)),
                  STR_ARG(text_clip_name(page->scratch, name, (TextCut){page->style.columns / 2, TEXT_CUT_SIXTHS, 0})));
        shown++;
    }
}

static void print_maps(const Page *page, const Vanished *vanished) {
    const char *list = "";
    for (uint32_t k = 0; k < vanished->map_count && k < MOST_SHOWN; k++) {
        list = arena_text(page->scratch, "%s%s'" STR_FMT "'", list, k == 0 ? "" : ", ",
                          STR_ARG(name_of(page, vanished->maps[k])));
    }
    if (vanished->map_count > 0) {
        page_line(page, "%s between operators gone: %s%s", page_count(page, vanished->map_count, "tensor"), list,
                  vanished->map_count > MOST_SHOWN ? ", and others" : "");
    }
}

void page_rewrites(const Page *page) {
    const Simplified *simplified = page->facts->simplified;
    uint32_t count = 0;
    if (simplified == NULL || simplified->rewrite_count == 0) {
        return;
    }
    const RuleTotal *rules = simplification_rules(simplified, page->scratch, &count);
    Vanished vanished = simplification_vanished(simplified, page->scratch);
    page_heading(page, "rewritten before planning, each proven to change nothing");
    print_rules(page, rules, count);
    page_line(page, "stride0 simplify writes this model; --simplify none plans the operators of the file");
    print_collapsed(page, simplified);
    print_constants(page, &vanished);
    print_maps(page, &vanished);
}
