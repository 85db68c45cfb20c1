/* Traffic and cycles in the HTML report, by column, of the first run and of later ones. */
#include "report/html.h"

#include <inttypes.h>

static void mark_moved(const Html *html, const char *name, const Moved *moved) {
    html_head(html, str_from(name));
    html_number(html, moved->transfers);
    html_number(html, moved->read_bytes);
    html_number(html, moved->written_bytes);
}

static void mark_columns(const Html *html) {
    static const char *const heads[] = {"column",       "#transfers", "#read",   "#written",
                                        "#descriptors", "#bursts",    "#cycles", NULL};
    const Facts *facts = html->page.facts;
    html_table(html, (HtmlTable){"traffic", heads, false}, "Traffic of the first run, in logical bytes");
    for (int column = 0; column < COLUMN_COUNT; column++) {
        const ColumnCost *cost = &facts->first_run.cost.column[column];
        bool has_cost = facts->has_costs;
        if (facts->traffic.by_column[column].transfers == 0 && cost->cycles == 0) {
            continue;
        }
        html_row(html);
        mark_moved(html, column_name((Column)column), &facts->traffic.by_column[column]);
        html_number(html, has_cost ? cost->descriptors : UINT64_MAX);
        html_number(html, has_cost ? cost->bursts : UINT64_MAX);
        html_number(html, has_cost ? cost->cycles : UINT64_MAX);
        html_row_end(html);
    }
    html_table_end(html);
}

static void mark_run(const Html *html, const char *name, const RunTotals *run) {
    bool has_costs = html->page.facts->has_costs;
    html_row(html);
    mark_moved(html, name, &run->moved);
    html_number(html, run->param_bytes);
    html_number(html, has_costs ? run->cost.syncs : UINT64_MAX);
    html_number(html, has_costs ? run->cost.cycles : UINT64_MAX);
    html_row_end(html);
}

static void mark_runs(const Html *html) {
    static const char *const heads[] = {"run",    "#transfers", "#read", "#written", "#of parameters",
                                        "#waits", "#cycles",    NULL};
    const Facts *facts = html->page.facts;
    const Steady *steady = &facts->steady;
    html_table(html, (HtmlTable){"runs", heads, false}, "The first run, and later ones");
    mark_run(html, "first", &facts->first_run);
    if (facts->has_costs) {
        mark_run(html, "later", &steady->run);
    }
    html_table_end(html);
    if (facts->has_costs) {
        html_line(html, "%s stay from one run to the next, in " STR_FMT " bytes, at most " STR_FMT " alive at once.",
                  page_count(&html->page, steady->held_count, "constant"),
                  STR_ARG(page_number(&html->page, steady->held_bytes)),
                  STR_ARG(page_number(&html->page, steady->alive_bytes)));
    }
    if (facts->first_run.cost.unbooked_steps > 0) {
        html_line(html, "%s not in the cycles: the layout tells too little of what moves.",
                  page_count(&html->page, facts->first_run.cost.unbooked_steps, "step"));
    }
}

void html_traffic(const Html *html) {
    html_section(html, "traffic", "Traffic");
    if (html->page.facts->traffic.all.transfers == 0) {
        html_line(html, "No step only moves data.");
    } else {
        mark_columns(html);
        mark_runs(html);
    }
    html_section_end(html);
}
