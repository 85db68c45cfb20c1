/* What was rewritten before planning, with certificates; what was not, and why; warnings. */
#include "report/html.h"

#include <inttypes.h>

/* ---- Rewrites */

static Str domain_text(const Html *html, const Domain *domain) {
    if (domain->lo >= domain->hi) {
        return str_from(domain->why);
    }
    return arena_format(html->page.scratch, "%" PRId64 " to %" PRId64 "%s%s", domain->lo, domain->hi,
                        domain->why == NULL ? "" : ", ", domain->why == NULL ? "" : domain->why);
}

static const char *semantics_text(const Html *html, uint32_t semantics) {
    const char *text = "";
    for (int id = 0; id < S0_SEM_COUNT; id++) {
        if ((semantics & S0_SEM_BIT(id)) != 0) {
            text = arena_text(html->page.scratch, "%s%s%s", text, text[0] == '\0' ? "" : ", ",
                              s0_semantics_name((Semantics)id));
        }
    }
    return text;
}

static void mark_rewrite(const Html *html, const Rewrite *rewrite) {
    const Certificate *certificate = &rewrite->certificate;
    html_row(html);
    html_head(html, html_long_name(html, rewrite->node));
    html_cell(html, html_long_name(html, rewrite->op));
    html_word(html, certificate->rule);
    html_word(html, affine_form_name(rewrite->form));
    html_word(html, proof_class_name(certificate->class));
    html_cell(html, domain_text(html, &certificate->domain));
    html_number(html, certificate->evaluations);
    html_number(html, certificate->max_error_lsb);
    html_number(html, certificate->channels);
    html_word(html, semantics_text(html, certificate->semantics));
    html_row_end(html);
}

static void mark_rewrites(const Html *html, const Simplified *simplified) {
    static const char *const heads[] = {"operator",     "op",          "rule",      "form",       "proof", "domain",
                                        "#evaluations", "#error, LSB", "#channels", "references", NULL};
    uint32_t shown = 0;
    html_table(html, (HtmlTable){"rewrites", heads, true}, "Rewrites and their certificates; an error of 0 is exact");
    for (size_t i = 0; i < simplified->rewrite_count && i < HTML_MOST_LIST; i++, shown++) {
        mark_rewrite(html, &simplified->rewrites[i]);
    }
    html_table_end(html);
    html_rest(html, shown, simplified->rewrite_count);
}

static void mark_refused(const Html *html, const Simplified *simplified) {
    static const char *const heads[] = {"operator", "op", "tensor", "reason", NULL};
    uint32_t shown = 0;
    html_table(html, (HtmlTable){"refusals", heads, true}, "What stays as it is, and why");
    for (size_t i = 0; i < simplified->refusal_count && i < HTML_MOST_LIST; i++, shown++) {
        const RewriteRefusal *refusal = &simplified->refusals[i];
        html_row(html);
        html_head(html, html_long_name(html, refusal->node));
        html_cell(html, html_long_name(html, refusal->op));
        html_cell(html, html_long_name(html, refusal->tensor));
        html_word(html, refusal->reason);
        html_row_end(html);
    }
    html_table_end(html);
    html_rest(html, shown, simplified->refusal_count);
}

void html_rewrites(const Html *html) {
    const Simplified *simplified = html->page.facts->simplified;
    html_section(html, "rewrites", "Rewrites");
    if (simplified == NULL || simplified->rewrite_count == 0) {
        html_line(html, "Nothing was rewritten before planning.");
    } else {
        mark_rewrites(html, simplified);
    }
    if (simplified != NULL && simplified->refusal_count > 0) {
        mark_refused(html, simplified);
    }
    html_section_end(html);
}

/* ---- Warnings */

static void mark_warning(const Html *html, const Diag *diag) {
    const DiagText *text = &diag->text;
    html_mark(html, "<li>");
    if (text->tensor.len > 0) {
        html_say(html, "tensor '" STR_FMT "': ", STR_ARG(html_long_name(html, text->tensor)));
    }
    html_escape(str_from(text->what), html->page.out);
    html_mark(html, "</li>\n");
}

static uint32_t mark_diags(const Html *html) {
    uint32_t count = 0;
    for (const Diag *diag = html->page.facts->diags->first; diag != NULL; diag = diag->next) {
        if (diag->kind == DIAG_WARNING && count++ < HTML_MOST_LIST) {
            mark_warning(html, diag);
        }
    }
    return count;
}

static void mark_overwrites(const Html *html) {
    const Facts *facts = html->page.facts;
    for (uint32_t i = 0; i < facts->overwrite_count && i < HTML_MOST_LIST; i++) {
        const Overwrite *over = &facts->overwrites[i];
        html_mark(html, "<li>");
        html_say(html, "graph input '" STR_FMT "' is overwritten at step %" PRIu32 "; --pin-inputs keeps it",
                 STR_ARG(page_name(&html->page, over->input)), over->step);
        html_mark(html, "</li>\n");
    }
}

void html_warnings(const Html *html) {
    const Facts *facts = html->page.facts;
    bool has_any = facts->overwrite_count > 0;
    for (const Diag *diag = facts->diags->first; diag != NULL; diag = diag->next) {
        has_any |= diag->kind == DIAG_WARNING;
    }
    html_section(html, "warnings", "Warnings");
    if (!has_any) {
        html_line(html, "None.");
    } else {
        html_mark(html, "<ul>\n");
        uint32_t count = mark_diags(html);
        mark_overwrites(html);
        html_mark(html, "</ul>\n");
        html_rest(html, count < HTML_MOST_LIST ? count : HTML_MOST_LIST, count);
    }
    html_section_end(html);
}
