/* The head of the HTML report: the answer, device and model, totals, bytes by kind, the peak. */
#include "report/html.h"

#include <inttypes.h>

/* ---- The answer */

static void mark_memory(const Html *html, uint32_t memory, uint64_t need_bytes, uint64_t capacity_bytes) {
    const Page *page = &html->page;
    const Plan *plan = page->facts->plan;
    bool fits = need_bytes <= capacity_bytes;
    uint64_t lack_bytes = memory == plan->device->local ? plan->lack_bytes : plan->backing_lack_bytes;
    html_line(html, STR_FMT " memory needs " STR_FMT " of " STR_FMT " bytes%s: " STR_FMT " %s.",
              STR_ARG(clean_text(page->scratch, page->facts->device->memory[memory].name)),
              STR_ARG(page_number(page, need_bytes)), STR_ARG(arena_number(page->scratch, capacity_bytes)),
              page_lane(page->facts->device, memory),
              STR_ARG(page_number(page, fits ? capacity_bytes - need_bytes : lack_bytes)),
              fits ? "free" : arena_text(page->scratch, "too many%s", words_beside(page, memory)));
}

static void mark_answer(const Html *html) {
    const Facts *facts = html->page.facts;
    const Plan *plan = facts->plan;
    bool fits = plan_fits(plan);
    html_mark(html, "<div class=\"answer %s\">\n<p><strong>%s</strong></p>\n", fits ? "good" : "bad",
              fits ? "It fits." : "It does not fit.");
    mark_memory(html, facts->device->local, plan->placed_bytes, plan->capacity_bytes);
    if (plan->backing_capacity_bytes != UINT64_MAX) {
        mark_memory(html, facts->device->backing, plan->backing_bytes, plan->backing_capacity_bytes);
    }
    for (uint32_t m = 0; m < plan->device->memory_count; m++) {
        if (plan->overflow[m].storage_count > 0 && plan->device->memory[m].bytes != UINT64_MAX) {
            mark_memory(html, m, plan->overflow[m].placed_bytes, plan->device->memory[m].bytes);
        }
    }
    if (plan->placed_bytes > 0) { /* else there is no map */
        html_mark(html, "<p><a id=\"to-peak\" href=\"#peak\">Show the peak on the map</a></p>\n");
    }
    html_mark(html, "</div>\n");
}

/* ---- Model and device */

static void mark_device(const Html *html) {
    const Device *device = html->page.facts->device;
    const DeviceMemory *local = &device->memory[device->local];
    html_line(html,
              "Device " STR_FMT " (%s): " STR_FMT " bytes of local memory, starts aligned to " STR_FMT ", %s, %s.",
              STR_ARG(text_device(html->page.scratch, device)), device_kind_name(device->kind),
              STR_ARG(page_number(&html->page, local->bytes)), STR_ARG(page_number(&html->page, local->align_bytes)),
              page_count(&html->page, local->banks, "bank"), page_count(&html->page, local->lanes, "lane"));
}

static void mark_model(const Html *html) {
    static const char *const format[] = {"ONNX", "TFLite", "text form"};
    const Facts *facts = html->page.facts;
    html_line(html, "Model: %s, %s, %s.", format[facts->graph->format],
              page_count(&html->page, facts->plan->node_count, "node"),
              page_count(&html->page, facts->plan->step_count, "step"));
    if (facts->other != NULL) {
        html_line(html,
                  "Quantize and Dequantize are read %s; the other reading has a peak of " STR_FMT
                  " bytes, placed in " STR_FMT "%s.",
                  facts->reads_qdq_as_float ? "as written (--qdq float)" : "as integer operators (--qdq int)",
                  STR_ARG(page_number(&html->page, facts->other->peak_live_bytes)),
                  STR_ARG(page_number(&html->page, facts->other->placed_bytes)),
                  words_further(&html->page, facts->other));
    }
}

static void mark_order(const Html *html) {
    Str words = words_order(&html->page);
    if (words.len > 0) {
        html_line(html, STR_FMT ".", STR_ARG(words));
    }
}

static void mark_tensors(const Html *html, const char *what, const ValueId *ids, uint32_t count) {
    const Plan *plan = html->page.facts->plan;
    for (uint32_t k = 0; k < count && k < HTML_MOST_LIST; k++) {
        const Value *value = graph_value(html->page.facts->graph, ids[k]);
        BufferId local = plan->of_value[ids[k].index];
        BufferId id = is_buffer(local) ? local : plan->backing[ids[k].index];
        html_row(html);
        html_head(html, html_long_name(html, value->name));
        html_word(html, what);
        html_word(html, dtype_name(value->dtype));
        html_cell(html, shape_text(html->page.scratch, &value->shape));
        html_number(html, is_buffer(id) ? plan_buffer(plan, id)->logical_bytes : UINT64_MAX);
        html_number(html, is_buffer(id) ? plan_buffer(plan, id)->physical_bytes : UINT64_MAX);
        html_buffer(html, id);
        html_row_end(html);
    }
}

static void mark_ends(const Html *html) {
    static const char *const heads[] = {"name", "end", "dtype", "shape", "#logical", "#physical", "#buffer", NULL};
    const Block *block = graph_main(html->page.facts->graph);
    html_table(html, (HtmlTable){"ends", heads, false}, "Inputs and outputs of the model, in bytes");
    mark_tensors(html, "input", block->inputs, block->input_count);
    mark_tensors(html, "output", block->outputs, block->output_count);
    html_table_end(html);
}

/* By which program, and by what it was asked for: who gets the page may want it anew. */
static void mark_request(const Html *html) {
    const Facts *facts = html->page.facts;
    const char *options = "";
    for (const char *const *option = facts->options; option != NULL && *option != NULL; option++) {
        options = arena_text(html->page.scratch, "%s %s", options, *option);
    }
    html_line(html, "Planned by stride0 %s%s%s%s%s.", S0_VERSION, facts->request_device == NULL ? "" : " with -d ",
              facts->request_device == NULL ? "" : facts->request_device, options,
              options[0] == '\0' ? "; every other option at its default" : "; all other options at their default");
}

/* ---- Totals */

static void mark_total(const Html *html, const char *key, const char *words, uint64_t bytes, const char *meaning) {
    html_row(html);
    html_key_head(html, key, words);
    html_mark(html, "<td data-key=\"%s\">" STR_FMT "</td>", key, STR_ARG(page_number(&html->page, bytes)));
    html_word(html, meaning);
    html_row_end(html);
}

static void mark_backing(const Html *html) {
    const Plan *plan = html->page.facts->plan;
    bool is_arena = html->page.facts->device->kind == DEVICE_ARENA;
    mark_total(html, is_arena ? "flash_bytes" : "far_bytes", is_arena ? "flash memory" : "far memory",
               plan->backing_bytes, "of the memory behind the local one: constants, and what else lies there");
    mark_total(html, is_arena ? "flash_capacity_bytes" : "far_capacity_bytes", "its capacity",
               plan->backing_capacity_bytes, "what there is of it; a dash: no limit");
}

static void mark_totals(const Html *html) {
    static const char *const heads[] = {"total", "#bytes", "meaning", NULL};
    const Plan *plan = html->page.facts->plan;
    html_table(html, (HtmlTable){"totals", heads, false},
               "Bytes of local memory, of one lane, and of the memory behind it");
    mark_total(html, "logical_bytes", "logical", plan->logical_bytes, "what the storages hold, all of them");
    mark_total(html, "physical_bytes", "physical", plan->physical_bytes,
               "with the layout's padding; starts are rounded in the bound and what is placed");
    mark_total(html, "peak_live_bytes", "peak, alive at once", plan->peak_live_bytes,
               "the most that is alive at one step");
    mark_total(html, "lower_bound_bytes", "lower bound", plan->lower_bound_bytes, "no placement needs less");
    mark_total(html, "placed_bytes", "placed", plan->placed_bytes,
               arena_text(html->page.scratch, "to reserve; %s", words_gap(&html->page)));
    mark_total(html, "capacity_bytes", "capacity", plan->capacity_bytes,
               plan->options.budget_bytes > 0 ? "of --budget" : "of the device");
    mark_total(html, "workspace_declared_bytes", "workspace", plan->by_kind[BUFFER_WORKSPACE].physical_bytes,
               "of kernels, in these sums");
    mark_backing(html);
    html_table_end(html);
    for (uint32_t m = 0; m < html->page.facts->device->memory_count; m++) {
        const char *words = words_overflow(&html->page, m);
        if (words != NULL) {
            html_line(html, "%s", words);
        }
    }
}

static void mark_kind(const Html *html, const char *name, KindTotals totals) {
    html_row(html);
    html_head(html, str_from(name));
    html_number(html, totals.logical_bytes);
    html_number(html, totals.physical_bytes);
    html_number(html, totals.at_peak_bytes);
    html_row_end(html);
}

static void mark_kinds(const Html *html) {
    static const char *const heads[] = {"kind", "#logical", "#physical", "#at the peak", NULL};
    html_table(html, (HtmlTable){"kinds", heads, false}, "Local memory by kind, in bytes");
    for (int kind = 0; kind < BUFFER_KIND_COUNT; kind++) {
        mark_kind(html, buffer_kind_name((BufferKind)kind), html->page.facts->plan->by_kind[kind]);
    }
    mark_kind(html, "total", facts_totals(html->page.facts));
    html_table_end(html);
}

/* ---- The peak */

static void mark_peak_row(const Html *html, Ranked ranked) {
    const Buffer *buffer = plan_buffer(html->page.facts->plan, ranked.buffer);
    html_row(html);
    html_buffer(html, ranked.buffer);
    html_name_head(html, ranked.buffer);
    html_word(html, buffer_kind_name(buffer->kind));
    html_number(html, ranked.bytes);
    html_number(html, buffer->storage_first);
    html_number(html, buffer->storage_last);
    html_number(html, buffer->offset);
    html_row_end(html);
}

static void mark_peak(const Html *html) {
    static const char *const heads[] = {"#id", "name", "kind", "#physical", "#first", "#last", "#offset", NULL};
    const Ranking *peak = &html->page.facts->at_peak;
    const Plan *plan = html->page.facts->plan;
    uint32_t shown = peak->count < HTML_MOST_LIST ? peak->count : HTML_MOST_LIST;
    if (plan->step_count == 0) {
        html_line(html, "The model has no step; alive are its inputs and outputs.");
    }
    bool has_place = plan->step_count > 0 && peak->all > 0;
    html_table(html, (HtmlTable){"peak", heads, true}, "Alive at the peak: " STR_FMT " bytes%s" STR_FMT,
               STR_ARG(page_number(&html->page, plan->peak_live_bytes)),
               has_place              ? " at "
               : plan->step_count > 0 ? "; nothing lies in local memory"
                                      : "",
               STR_ARG(has_place ? page_step(&html->page, plan->peak_step) : STR("")));
    for (uint32_t i = 0; i < shown; i++) {
        mark_peak_row(html, peak->top[i]);
    }
    html_table_end(html);
    html_rest(html, shown, peak->all);
}

void html_summary(const Html *html) {
    html_section(html, "summary", "Summary");
    mark_answer(html);
    mark_device(html);
    mark_model(html);
    mark_order(html);
    mark_request(html);
    mark_totals(html);
    mark_kinds(html);
    mark_ends(html);
    mark_peak(html);
    html_section_end(html);
}
