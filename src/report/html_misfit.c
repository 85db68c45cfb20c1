/* Why the plan does not fit, in the HTML report: what is needed and by whom, what waits, what to do. */
#include "report/html.h"

#include <inttypes.h>

static void mark_excess(const Html *html, uint32_t memory, uint64_t need_bytes, uint64_t capacity_bytes) {
    const Page *page = &html->page;
    const Plan *plan = page->facts->plan;
    uint64_t lack_bytes = memory == plan->device->local ? plan->lack_bytes : plan->backing_lack_bytes;
    html_line(html, STR_FMT " memory of " STR_FMT ": needs " STR_FMT " bytes, has " STR_FMT ": " STR_FMT " too many%s.",
              STR_ARG(page->facts->device->memory[memory].name), STR_ARG(page->facts->device->name),
              STR_ARG(page_number(page, need_bytes)), STR_ARG(page_number(page, capacity_bytes)),
              STR_ARG(page_number(page, lack_bytes)), words_beside(page, memory));
}

/* ---- The peak's operator, and what waits */

static void mark_waiting(const Html *html) {
    static const char *const heads[] = {"#id", "name", "#bytes", "waits", NULL};
    const Misfit *misfit = &html->page.facts->misfit;
    uint32_t shown = misfit->waiting_count < HTML_MOST_LIST ? misfit->waiting_count : HTML_MOST_LIST;
    if (misfit->waiting_count == 0) {
        return;
    }
    html_table(html, (HtmlTable){"waiting", heads, false}, "Alive at the peak for other steps: " STR_FMT " bytes",
               STR_ARG(page_number(&html->page, misfit->waiting_bytes)));
    for (uint32_t i = 0; i < shown; i++) {
        html_row(html);
        html_buffer(html, misfit->waiting[i]);
        html_name_head(html, misfit->waiting[i]);
        html_number(html, plan_buffer(html->page.facts->plan, misfit->waiting[i])->physical_bytes);
        html_cell(html, misfit_waiting_for(&html->page, misfit->waiting[i]));
        html_row_end(html);
    }
    html_table_end(html);
    html_rest(html, shown, misfit->waiting_count);
}

static void mark_peak_node(const Html *html) {
    const Plan *plan = html->page.facts->plan;
    if (plan->step_count == 0) {
        return;
    }
    Str cut = misfit_cut(&html->page);
    html_line(html,
              "At the peak, " STR_FMT ", " STR_FMT " bytes are alive; " STR_FMT
              " of them are what the operator itself reads and writes%s%s" STR_FMT ".",
              STR_ARG(page_step(&html->page, plan->peak_step)),
              STR_ARG(page_number(&html->page, plan->peak_live_bytes)),
              STR_ARG(page_number(&html->page, html->page.facts->misfit.own_bytes)), misfit_helpless(&html->page),
              cut.len == 0 ? "" : "; ", STR_ARG(cut));
}

/* ---- Blame, other steps, remedies */

static void mark_blame(const Html *html) {
    static const char *const heads[] = {"to blame", "what", "#bytes", "#would do", "hint", NULL};
    const Misfit *misfit = &html->page.facts->misfit;
    uint32_t shown = misfit->blame_count < HTML_MOST_LIST ? misfit->blame_count : HTML_MOST_LIST;
    if (misfit->blame_count == 0) {
        return;
    }
    html_table(html, (HtmlTable){"blame", heads, false}, "What of the peak need not be there, in bytes");
    for (uint32_t i = 0; i < shown; i++) {
        const Blame *blame = &misfit->blame[i];
        html_row(html);
        html_head(html, str_from(blame_name(blame->kind)));
        html_cell(html, misfit_blamed(&html->page, blame));
        html_number(html, blame->bytes);
        html_number(html, blame->instead_bytes);
        html_word(html, blame->hint);
        html_row_end(html);
    }
    html_table_end(html);
    html_rest(html, shown, misfit->blame_count);
}

static void mark_crowded(const Html *html) {
    enum { MOST = 10 };
    static const char *const heads[] = {"step", "#bytes alive", NULL};
    const Misfit *misfit = &html->page.facts->misfit;
    uint32_t shown = misfit->crowded_count < MOST ? misfit->crowded_count : MOST;
    if (misfit->crowded_count == 0) {
        return;
    }
    html_table(html, (HtmlTable){"crowded", heads, false}, "Other steps at which more is alive than fits: %" PRIu32,
               misfit->crowded_count);
    for (uint32_t i = 0; i < shown; i++) {
        html_row(html);
        html_step(html, misfit->crowded[i].step);
        html_number(html, misfit->crowded[i].live_bytes);
        html_row_end(html);
    }
    html_table_end(html);
}

static void mark_remedies(const Html *html) {
    static const char *const heads[] = {"remedy", "#saves bytes", "#lacks bytes", NULL};
    const Plan *plan = html->page.facts->plan;
    if (plan->remedy_count == 0) {
        return;
    }
    html_table(html, (HtmlTable){"remedies", heads, false}, "Remedies, each alone, planned again to be measured%s",
               plan_local_fits(plan) || plan_backing_fits(plan) ? ""
                                                                : "; both memories are too small, and each needs one");
    for (uint32_t i = 0; i < plan->remedy_count; i++) {
        const Remedy *remedy = &plan->remedies[i];
        Str bytes = page_number(&html->page, remedy->saves_bytes);
        html_row(html);
        html_key_head(html, remedy->kind, words_remedy(&html->page, remedy));
        html_cell(html, words_is_lack(remedy->kind) ? STR("") : bytes);
        html_cell(html, words_is_lack(remedy->kind) ? bytes : STR(""));
        html_row_end(html);
    }
    html_table_end(html);
}

static void mark_unused(const Html *html) {
    const Misfit *misfit = &html->page.facts->misfit;
    if (misfit->unused != NULL) {
        html_line(html,
                  "The device file also describes memory '" STR_FMT "', in which plans place nothing. To plan with it, "
                  "in a device file of your own %s (docs/devices.md).",
                  STR_ARG(misfit->unused->name), words_unused(&html->page));
    }
}

/* ---- Flash or far memory */

static void mark_backing(const Html *html) {
    static const char *const heads[] = {"#id", "name", "kind", "#bytes", NULL};
    const Facts *facts = html->page.facts;
    const Misfit *misfit = &facts->misfit;
    mark_excess(html, facts->device->backing, facts->plan->backing_bytes, facts->plan->backing_capacity_bytes);
    html_table(html, (HtmlTable){"backing", heads, false},
               "The largest of %s in that memory where most is alive: " STR_FMT " bytes, of which " STR_FMT
               " stay for the whole run",
               page_count(&html->page, misfit->backing.all, "buffer"),
               STR_ARG(page_number(&html->page, misfit->backing_live_bytes)),
               STR_ARG(page_number(&html->page, misfit->backing_stay_bytes)));
    for (uint32_t i = 0; i < misfit->backing.count; i++) {
        BufferId id = misfit->backing.top[i].buffer;
        html_row(html);
        html_buffer(html, id);
        html_name_head(html, id);
        html_word(html, buffer_kind_name(plan_buffer(facts->plan, id)->kind));
        html_number(html, misfit->backing.top[i].bytes);
        html_row_end(html);
    }
    html_table_end(html);
}

void html_misfit(const Html *html) {
    const Facts *facts = html->page.facts;
    const Plan *plan = facts->plan;
    if (plan_fits(plan)) {
        return;
    }
    html_section(html, "misfit", "Why it does not fit");
    if (!plan_local_fits(plan)) {
        mark_excess(html, facts->device->local, plan->placed_bytes, plan->capacity_bytes);
        mark_peak_node(html);
        mark_waiting(html);
        mark_blame(html);
        mark_crowded(html);
    }
    if (!plan_backing_fits(plan)) {
        mark_backing(html);
    }
    mark_remedies(html);
    mark_unused(html);
    html_section_end(html);
}
