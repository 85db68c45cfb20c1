/* Parameters in the HTML report: kept compact, expanded, stored larger than needed; and padding. */
#include "report/html.h"

#include <inttypes.h>

static uint32_t shown_of(uint32_t all) {
    return all < HTML_MOST_LIST ? all : HTML_MOST_LIST;
}

static void mark_compact(const Html *html) {
    static const char *const heads[] = {"#id",     "name",     "form",           "#compact",
                                        "#as row", "#as full", "#full, logical", NULL};
    const Facts *facts = html->page.facts;
    uint32_t shown = shown_of(facts->compact_count);
    if (facts->compact_count == 0) {
        html_line(html, "No parameter repeats over a map.");
        return;
    }
    html_line(html, "All together " STR_FMT " bytes; expanded along rows " STR_FMT ", as whole maps " STR_FMT ".",
              STR_ARG(page_number(&html->page, facts->compact_bytes)),
              STR_ARG(page_number(&html->page, facts->compact_as_row_bytes)),
              STR_ARG(page_number(&html->page, facts->compact_as_full_bytes)));
    html_table(html, (HtmlTable){"compact", heads, true},
               "Kept compact, and what other forms would have cost: bytes of all lanes");
    for (uint32_t i = 0; i < shown; i++) {
        const CompactCost *cost = &facts->kept_compact[i];
        html_row(html);
        html_buffer(html, cost->buffer);
        html_name_head(html, cost->buffer);
        html_word(html, broadcast_name(plan_buffer(facts->plan, cost->buffer)->broadcast));
        html_number(html, cost->compact_bytes);
        html_number(html, cost->row_bytes);
        html_number(html, cost->full_bytes);
        html_number(html, cost->full_logical_bytes);
        html_row_end(html);
    }
    html_table_end(html);
    html_rest(html, shown, facts->compact_count);
}

static void mark_materialised(const Html *html) {
    static const char *const heads[] = {"#id", "name", "form", "#bytes", "#compact", "reason", NULL};
    const Facts *facts = html->page.facts;
    uint32_t shown = shown_of(facts->materialised_count);
    if (facts->materialised_count == 0) {
        return;
    }
    html_table(html, (HtmlTable){"materialised", heads, true}, "Expanded: bytes of one lane");
    for (uint32_t i = 0; i < shown; i++) {
        const Buffer *buffer = plan_buffer(facts->plan, facts->materialised[i]);
        html_row(html);
        html_buffer(html, facts->materialised[i]);
        html_name_head(html, facts->materialised[i]);
        html_word(html, broadcast_name(buffer->broadcast));
        html_number(html, buffer->physical_bytes);
        html_number(html, buffer->costs == NULL ? UINT64_MAX : buffer->costs->compact_bytes);
        html_word(html, buffer->materialised_reason);
        html_row_end(html);
    }
    html_table_end(html);
    html_rest(html, shown, facts->materialised_count);
}

static void mark_collapsibles(const Html *html) {
    static const char *const heads[] = {"name", "#in the file", "#bit-identical in", NULL};
    const Facts *facts = html->page.facts;
    uint32_t shown = shown_of(facts->collapsible_count);
    if (facts->collapsible_count == 0) {
        return;
    }
    html_table(html, (HtmlTable){"collapsibles", heads, true}, "Constants that repeat themselves, in bytes");
    for (uint32_t i = 0; i < shown; i++) {
        const Collapsible *one = &facts->collapsibles[i];
        html_row(html);
        html_head(html, html_long_name(html, graph_value(facts->graph, one->value)->name));
        html_number(html, one->file_bytes);
        html_number(html, one->stored_bytes);
        html_row_end(html);
    }
    html_table_end(html);
    html_rest(html, shown, facts->collapsible_count);
}

/* The contracts, which the table of buffers leaves out. */
static void mark_contracts(const Html *html) {
    static const char *const heads[] = {"role", "contract", NULL};
    const Device *device = html->page.facts->device;
    html_table(html, (HtmlTable){"contracts", heads, false}, "Layout contracts of the device");
    for (int role = 0; role < ROLE_COUNT; role++) {
        html_row(html);
        html_head(html, str_from(role_name((Role)role)));
        html_cell(html, contract_text(device->contract[role]));
        html_row_end(html);
    }
    html_table_end(html);
}

static void mark_padding(const Html *html) {
    static const char *const heads[] = {"#id", "name", "role", "#padding", "#physical", "#banks", "#logical", NULL};
    const Facts *facts = html->page.facts;
    if (facts->paddings.all == 0) {
        return;
    }
    html_table(html, (HtmlTable){"padding", heads, true}, "Largest paddings: " STR_FMT " bytes in %s",
               STR_ARG(page_number(&html->page, facts->paddings.all_bytes)),
               page_count(&html->page, facts->paddings.all, "buffer"));
    for (uint32_t i = 0; i < facts->paddings.count; i++) {
        const Buffer *buffer = plan_buffer(facts->plan, facts->paddings.top[i].buffer);
        html_row(html);
        html_buffer(html, facts->paddings.top[i].buffer);
        html_name_head(html, facts->paddings.top[i].buffer);
        html_word(html, role_name(buffer->role));
        html_number(html, facts->paddings.top[i].bytes);
        html_number(html, buffer->physical_bytes);
        html_number(html, buffer->banks_used);
        html_number(html, buffer->logical_bytes);
        html_row_end(html);
    }
    html_table_end(html);
    html_rest(html, facts->paddings.count, facts->paddings.all);
}

void html_forms(const Html *html) {
    html_section(html, "forms", "Parameters and padding");
    mark_compact(html);
    mark_materialised(html);
    mark_collapsibles(html);
    mark_padding(html);
    mark_contracts(html);
    html_section_end(html);
}
