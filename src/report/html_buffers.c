/* The table of buffers of the HTML report: those of the peak, then those drawn alone, then the largest, in the order of
 * the plan. */
#include "report/html.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- Which have a row */

typedef struct {
    uint32_t buffer;
    uint32_t rank; /* 2 alive at the peak, 1 drawn alone */
    uint64_t bytes;
} Weight;

static int by_weight(const void *left, const void *right) {
    const Weight *a = left;
    const Weight *b = right;
    if (a->rank != b->rank) {
        return a->rank > b->rank ? -1 : 1;
    }
    if (a->bytes != b->bytes) {
        return a->bytes > b->bytes ? -1 : 1;
    }
    return a->buffer < b->buffer ? -1 : a->buffer > b->buffer;
}

void html_choose_rows(Html *html) {
    const Plan *plan = html->page.facts->plan;
    Weight *weight = arena_array(html->page.scratch, Weight, plan->buffer_count);
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        bool is_at_peak =
            buffer_is_local_storage(plan, (BufferId){i}) && storage_is_live(&plan->buffers[i], plan->peak_step);
        weight[i] = (Weight){i, is_at_peak ? 2 : html->has_rect[i], plan->buffers[i].physical_bytes};
    }
    if (plan->buffer_count > 0) {
        qsort(weight, plan->buffer_count, sizeof *weight, by_weight);
    }
    html->row_count = plan->buffer_count < HTML_MOST_ROWS ? plan->buffer_count : HTML_MOST_ROWS;
    for (uint32_t i = 0; i < html->row_count; i++) {
        html->has_row[weight[i].buffer] = true;
    }
}

/* ---- Cells */

/* The number, linked to the storage's rectangle where it has one. */
static void mark_id(const Html *html, BufferId id) {
    uint32_t storage = plan_buffer(html->page.facts->plan, id)->storage.index;
    if (html->has_rect[storage]) {
        html_mark(html, "<td><a href=\"#m%" PRIu32 "\">%" PRIu32 "</a></td>", storage, id.index);
    } else {
        html_mark(html, "<td>%" PRIu32 "</td>", id.index);
    }
}

/* "in_place 12" */
static void mark_alias(const Html *html, const Buffer *buffer) {
    html_mark(html, "<td>");
    if (is_buffer(buffer->alias_of)) {
        html_mark(html, "%s ", alias_reason_name(buffer->alias_reason));
        html_buffer_link(html, buffer->alias_of);
    }
    html_mark(html, "</td>");
}

static Str form_text(const Html *html, const Buffer *buffer) {
    const char *name = broadcast_name(buffer->broadcast);
    return name == NULL || buffer->axis < 0 ? str_from(name)
                                            : arena_format(html->page.scratch, "%s, axis %" PRId32, name, buffer->axis);
}

static Str far_text(const Html *html, const FarReason *why) {
    return arena_format(html->page.scratch, "far: " STR_FMT " alive at " STR_FMT ", room for " STR_FMT,
                        STR_ARG(page_number(&html->page, why->live_bytes)),
                        STR_ARG(is_node(why->node) ? html_node_name(html, why->node) : STR("(model output)")),
                        STR_ARG(page_number(&html->page, why->room_bytes)));
}

/* Why it is as large as it is, lies where it lies, or shares no bytes. */
static Str why_text(const Html *html, BufferId id) {
    enum { MOST = 160 };
    const Facts *facts = html->page.facts;
    const Buffer *buffer = plan_buffer(facts->plan, id);
    const FarReason *far = facts_why_far(facts->plan, id);
    Str text = {0};
    if (buffer->materialised_reason != NULL) {
        text = arena_format(html->page.scratch, "expanded: %s", buffer->materialised_reason);
    } else if (far != NULL) {
        text = far_text(html, far);
    } else if (buffer->refused_alias == REFUSED_OPERATOR) {
        text = str_from(alias_refusal_name(buffer->refused_alias)); /* of most: what its name says is enough */
    } else if (buffer->refused_alias != REFUSED_NONE) {
        text = arena_format(html->page.scratch, "%s: " STR_FMT, alias_refusal_name(buffer->refused_alias),
                            STR_ARG(words_refusal(&html->page, buffer)));
    }
    return text_clip(html->page.scratch, text, MOST);
}

static void mark_row(const Html *html, BufferId id) {
    const Facts *facts = html->page.facts;
    const Buffer *buffer = plan_buffer(facts->plan, id);
    html_mark(html, "<tr id=\"b%" PRIu32 "\">", id.index);
    mark_id(html, id);
    html_head(html, html_long_name(html, facts_buffer_name(facts, id, html->page.scratch)));
    html_word(html, buffer_kind_name(buffer->kind));
    html_word(html, dtype_name(buffer->dtype));
    html_cell(html, shape_text(html->page.scratch, &buffer->stored));
    html_number(html, buffer->logical_bytes);
    html_number(html, buffer->physical_bytes);
    html_number(html, buffer->banks_used);
    html_cell(html, facts->device->memory[buffer->memory].name);
    html_number(html, buffer->offset);
    html_number(html, buffer->first);
    html_number(html, buffer->last);
    html_number(html, buffer->repeat);
    mark_alias(html, buffer);
    html_cell(html, form_text(html, buffer));
    html_cell(html, html_node_name(html, buffer->node));
    html_cell(html, why_text(html, id));
    html_row_end(html);
}

/* ---- The filter: of use to the script only, which shows it */

static void mark_option(const Html *html, const char *value) {
    html_mark(html, "<option>");
    html_say(html, "%s", value);
    html_mark(html, "</option>");
}

static void mark_filter(const Html *html) {
    const Device *device = html->page.facts->device;
    html_mark(html,
              "<form id=\"filter\" hidden=\"hidden\" role=\"search\" aria-label=\"Filter the table of buffers\">\n"
              "<label>Name or operator <input id=\"f-text\" type=\"search\"/></label>\n"
              "<label>Kind <select id=\"f-kind\"><option value=\"\">all</option>");
    for (int kind = 0; kind < BUFFER_KIND_COUNT; kind++) {
        mark_option(html, buffer_kind_name((BufferKind)kind));
    }
    html_mark(html, "</select></label>\n<label>Memory <select id=\"f-memory\"><option value=\"\">all</option>");
    for (uint32_t k = 0; k < device->memory_count; k++) {
        mark_option(html, arena_text(html->page.scratch, STR_FMT,
                                     STR_ARG(clean_text(html->page.scratch, device->memory[k].name))));
    }
    html_mark(html, "</select></label>\n<label>Alive at step <input id=\"f-step\" type=\"number\" min=\"0\"/></label>\n"
                    "<button type=\"reset\">Show all</button>\n<output id=\"f-count\"></output>\n</form>\n");
}

void html_buffers(const Html *html) {
    static const char *const heads[] = {"#id",       "name",   "kind",   "dtype",    "stored", "#logical",
                                        "#physical", "#banks", "memory", "#offset",  "#first", "#last",
                                        "#repeat",   "shares", "form",   "operator", "why",    NULL};
    const Plan *plan = html->page.facts->plan;
    html_section(html, "buffers", "Buffers");
    html_line(html, "An id leads to the storage on the map. What shares bytes names the buffer that it lies in.");
    if (html->row_count < plan->buffer_count) {
        html_line(
            html,
            STR_FMT
            " of " STR_FMT
            " buffers are listed: those alive at the peak, those drawn alone, then the largest. The JSON has all.",
            STR_ARG(page_number(&html->page, html->row_count)), STR_ARG(page_number(&html->page, plan->buffer_count)));
    }
    mark_filter(html);
    html_table(html, (HtmlTable){"buffers", heads, true}, "Buffers, in bytes; alive from step first to before last");
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        if (html->has_row[i]) {
            mark_row(html, (BufferId){i});
        }
    }
    html_table_end(html);
    html_section_end(html);
}
