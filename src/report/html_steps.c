/* Steps of the HTML report: from the operator of the model to what runs, reads and writes.
 *
 * Steps that follow each other and are of one operator stand under its name. */
#include "report/html.h"

#include <inttypes.h>
#include <stdlib.h>

enum { COLUMNS = 10, MOST_IDS = 8 };

/* ---- Which have a row: those at which most is alive */

typedef struct {
    uint32_t step;
    uint64_t bytes;
} Weight;

static int by_weight(const void *left, const void *right) {
    const Weight *a = left;
    const Weight *b = right;
    if (a->bytes != b->bytes) {
        return a->bytes > b->bytes ? -1 : 1;
    }
    return a->step < b->step ? -1 : a->step > b->step;
}

void html_choose_steps(Html *html) {
    const Plan *plan = html->page.facts->plan;
    Weight *weight = arena_array(html->page.scratch, Weight, plan->step_count);
    for (uint32_t s = 0; s < plan->step_count; s++) {
        weight[s] = (Weight){s, plan->steps[s].live_bytes};
    }
    if (plan->step_count > 0) {
        qsort(weight, plan->step_count, sizeof *weight, by_weight);
    }
    html->step_count = plan->step_count < HTML_MOST_ROWS ? plan->step_count : HTML_MOST_ROWS;
    for (uint32_t s = 0; s < html->step_count; s++) {
        html->has_step[weight[s].step] = true;
    }
}

/* ---- Rows */

static void mark_ids(const Html *html, const BufferId *ids, uint32_t count) {
    html_mark(html, "<td>");
    for (uint32_t i = 0; i < count && i < MOST_IDS; i++) {
        html_mark(html, i == 0 ? "" : " ");
        html_buffer_link(html, ids[i]);
    }
    if (count > MOST_IDS) {
        html_mark(html, " and %" PRIu32 " more", count - MOST_IDS);
    }
    html_mark(html, "</td>");
}

/* As `run --trace` numbers them; those of a sweep are of all its steps. */
static void mark_commands(const Html *html, uint32_t index) {
    const StepCommands *all = html->page.facts->commands;
    if (all == NULL || all[index].count == 0) {
        html_word(html, "");
        return;
    }
    uint64_t first = all[index].first, last = first + all[index].count - 1;
    html_cell(html, str_from(arena_text(html->page.scratch, first == last ? "%" PRIu64 : "%" PRIu64 " to %" PRIu64,
                                        first, last)));
}

static void mark_step(const Html *html, uint32_t index) {
    const Facts *facts = html->page.facts;
    const Step *step = &facts->plan->steps[index];
    html_mark(html, "<tr id=\"s%" PRIu32 "\"><td>%" PRIu32 "</td>", index, index);
    html_word(html, column_name(step->column));
    mark_ids(html, step->reads, step->read_count);
    mark_ids(html, step->writes, step->write_count);
    html_number(html, step->live_bytes);
    html_number(html, facts->whole[index].own_bytes);
    html_number(html, step->repeat);
    html_number(html, facts_step_moves(facts->plan, step).written_bytes);
    mark_commands(html, index);
    html_word(html, whole_reason_name(facts->whole[index].reason));
    html_row_end(html);
}

static void mark_operator(const Html *html, const Step *step) {
    html_mark(html, "</tbody>\n<tbody><tr class=\"of\"><th colspan=\"%d\" scope=\"rowgroup\">", COLUMNS);
    html_escape(
        text_clip_name(html->page.scratch,
                       clean_text(html->page.scratch, facts_step_title(html->page.facts, step, html->page.scratch)),
                       (TextCut){2 * HTML_NAME_WIDTH, TEXT_CUT_SIXTHS, 0}),
        html->page.out);
    html_mark(html, "</th></tr>\n");
}

static void mark_steps(const Html *html) {
    const Plan *plan = html->page.facts->plan;
    uint32_t last = UINT32_MAX; /* that was listed */
    for (uint32_t s = 0; s < plan->step_count; s++) {
        if (!html->has_step[s]) {
            continue;
        }
        if (last == UINT32_MAX || plan->steps[last].node.index != plan->steps[s].node.index) {
            mark_operator(html, &plan->steps[s]);
        }
        mark_step(html, s);
        last = s;
    }
}

void html_steps(const Html *html) {
    static const char *const heads[] = {"#step",        "column",         "reads",    "writes",
                                        "#bytes alive", "#bytes it uses", "#repeats", "#bytes moved",
                                        "commands",     "whole maps",     NULL};
    const Plan *plan = html->page.facts->plan;
    html_section(html, "steps", "Steps");
    html_line(html, "Each operator with the steps that it became; numbers under reads and writes are ids of buffers.");
    if (html->page.facts->commands != NULL) {
        html_line(html, "Commands are those of stride0 run, as its --trace numbers them; steps that go tile by tile "
                        "have theirs in common.");
    }
    if (html->step_count < plan->step_count) {
        html_line(html, STR_FMT " of " STR_FMT " steps are listed: those at which most is alive. The JSON has all.",
                  STR_ARG(page_number(&html->page, html->step_count)),
                  STR_ARG(page_number(&html->page, plan->step_count)));
    }
    html_table(html, (HtmlTable){"steps", heads, false}, "Steps, by operator of the model");
    mark_steps(html);
    html_table_end(html);
    html_section_end(html);
}
