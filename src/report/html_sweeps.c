/* Tiles in the HTML report: every sweep on a line, and those that take most cycles column by column. */
#include "report/html.h"

#include <inttypes.h>

enum { MOST_IN_DETAIL = 16 };

/* What is made of several names takes more room than one. */
static Page wide_page(const Html *html) {
    Page page = html->page;
    page.style.columns = 4 * HTML_NAME_WIDTH;
    return page;
}

static void mark_title(const Html *html, const PlannedSweep *planned) {
    const Page page = wide_page(html);
    html_escape(page_sweep_title(&page, planned), html->page.out);
}

/* ---- All of them */

static void mark_line(const Html *html, uint32_t index, bool is_in_detail) {
    const PlannedSweep *planned = html->page.facts->sweeps[index].planned;
    const SweepOption *best = &planned->chosen.best;
    html_row(html);
    html_mark(html, is_in_detail ? "<th scope=\"row\"><a href=\"#w%" PRIu32 "\">" : "<th scope=\"row\">", index);
    mark_title(html, planned);
    html_mark(html, is_in_detail ? "</a></th>" : "</th>");
    html_number(html, planned->first_step);
    html_number(html, planned->last_step);
    html_word(html, schedule_name(best->choice.schedule));
    html_number(html, best->cost.tiles);
    html_cell(html, page_tile(&html->page, &best->choice));
    html_number(html, best->need_bytes);
    html_number(html, best->cost.cycles);
    html_row_end(html);
}

static void mark_list(const Html *html) {
    static const char *const heads[] = {"operators", "#first",       "#last",         "schedule", "#tiles",
                                        "tile",      "#needs bytes", "#cycles alone", NULL};
    const Facts *facts = html->page.facts;
    uint32_t all = facts->plan->sweep_count;
    html_table(html, (HtmlTable){"sweep-list", heads, true}, "Operators that go tile by tile, most cycles first");
    for (uint32_t k = 0; k < all && k < HTML_MOST_LIST; k++) {
        mark_line(html, facts->costliest[k], k < MOST_IN_DETAIL);
    }
    html_table_end(html);
    html_rest(html, all < HTML_MOST_LIST ? all : HTML_MOST_LIST, all);
}

/* ---- One of them */

static void mark_columns(const Html *html, uint32_t index) {
    static const char *const heads[] = {"column",      "#repeat",      "#bytes", "#cycles",
                                        "#live bytes", "fullest step", "alive",  NULL};
    const Facts *facts = html->page.facts;
    const SweepFacts *sweep = &facts->sweeps[index];
    const Page page = wide_page(html);
    html_table(html, (HtmlTable){arena_text(html->page.scratch, "columns-%" PRIu32, index), heads, false},
               "Columns of a tile, over all tiles");
    for (int column = 0; column < COLUMN_COUNT; column++) {
        SweepRow row = facts_sweep_row(facts->plan, sweep->planned, (Column)column);
        if (row.fullest == NO_STEP) {
            continue;
        }
        html_row(html);
        html_head(html, str_from(column_name((Column)column)));
        html_number(html, row.repeat);
        html_number(html, row.moved_bytes);
        html_number(html, sweep->has_cost ? sweep->cost.column[column].cycles : UINT64_MAX);
        html_number(html, row.live_bytes);
        html_mark(html,
                  html->has_step[row.fullest] ? "<td><a href=\"#s%" PRIu32 "\">%" PRIu32 "</a></td>"
                                              : "<td>%" PRIu32 "</td>",
                  row.fullest, row.fullest);
        html_cell(html, page_alive(&page, row.fullest));
        html_row_end(html);
    }
    html_table_end(html);
}

static void mark_option(const Html *html, const char *what, const SweepChoice *choice, uint64_t need_bytes,
                        uint64_t cycles) {
    html_head(html, str_from(what));
    html_word(html, schedule_name(choice->schedule));
    html_cell(html, page_tile(&html->page, choice));
    html_word(html, choice->is_resident ? "stay" : "reloaded");
    html_number(html, need_bytes);
    html_number(html, cycles);
}

static void mark_form(const Html *html, const char *what, Form form, const ParamPrice *price) {
    html_row(html);
    mark_option(html, arena_text(html->page.scratch, "parameters as %s, %s", form_name(form), what), &price->choice,
                price->need_bytes, price->cycles);
    html_number(html, price->param_bytes);
    html_word(html, price->fits ? "yes" : "no");
    html_row_end(html);
}

static void mark_options(const Html *html, uint32_t index) {
    static const char *const heads[] = {"option",  "schedule",         "tile", "parameters", "#needs bytes",
                                        "#cycles", "#parameter bytes", "fits", NULL};
    const SweepFacts *sweep = &html->page.facts->sweeps[index];
    const SweepChosen *chosen = &sweep->planned->chosen;
    html_table(html, (HtmlTable){arena_text(html->page.scratch, "options-%" PRIu32, index), heads, false},
               "What was chosen, and what instead");
    html_row(html);
    mark_option(html, "chosen", &chosen->best.choice, chosen->best.need_bytes, chosen->best.cost.cycles);
    html_number(html, chosen->best.cost.column[SWEEP_LOAD_PARAM].bytes);
    html_word(html, chosen->fits ? "yes" : "no");
    html_row_end(html);
    for (uint32_t i = 0; i < sweep->other_count; i++) {
        const SweepOther *other = &sweep->others[i];
        html_row(html);
        mark_option(html, other->has_chosen_tile ? "instead, only this tile" : "instead", &other->choice,
                    other->need_bytes, other->cycles);
        html_number(html, UINT64_MAX);
        html_word(html, other->fits ? "yes" : "no");
        html_row_end(html);
    }
    for (uint32_t i = 0; i < sweep->form_count; i++) {
        const FormPrice *price = &sweep->form[i];
        mark_form(html, "made by the engine", price->form, &price->made);
        if (price->has_before) {
            mark_form(html, "--expand before", price->form, &price->before);
        }
    }
    html_table_end(html);
}

static void mark_sweep(const Html *html, uint32_t index) {
    const PlannedSweep *planned = html->page.facts->sweeps[index].planned;
    html_mark(html, "<h3 id=\"w%" PRIu32 "\" tabindex=\"-1\">", index);
    mark_title(html, planned);
    html_mark(html, "</h3>\n");
    html_line(html, "%s; steps " STR_FMT ".", page_choice(&html->page, planned),
              STR_ARG(text_steps(html->page.scratch, planned->first_step, planned->last_step)));
    mark_columns(html, index);
    mark_options(html, index);
}

void html_sweeps(const Html *html) {
    const Facts *facts = html->page.facts;
    html_section(html, "sweeps", "Tiles");
    if (facts->plan->sweep_count == 0) {
        html_line(html, "No operator goes tile by tile: each works on whole maps.");
    } else {
        mark_list(html);
    }
    for (uint32_t k = 0; k < facts->plan->sweep_count && k < MOST_IN_DETAIL; k++) {
        mark_sweep(html, facts->costliest[k]);
    }
    html_section_end(html);
}
