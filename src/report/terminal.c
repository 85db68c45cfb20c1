/* The ledger for people: what was read, totals, by kind, the peak; the other parts are in parts.c and drawing.c.
 *
 * Figures are taken from the facts; nothing here adds or decides. */
#include "report/page.h"

#include <inttypes.h>
#include <stdarg.h>

/* ---- Lines */

const char *page_color(const Page *page, const char *code) {
    return page->style.has_color ? code : "";
}

Str page_number(const Page *page, uint64_t number) {
    return text_number(page->scratch, number);
}

const char *page_count(const Page *page, uint64_t count, const char *noun) {
    return arena_text(page->scratch, STR_FMT " %s%s", STR_ARG(page_number(page, count)), noun, count == 1 ? "" : "s");
}

Str page_name(const Page *page, BufferId id) {
    Str name = clean_text(page->scratch, facts_buffer_name(page->facts, id, page->scratch));
    return text_clip_name(page->scratch, name, (TextCut){page->style.columns / 2, TEXT_CUT_SIXTHS, 0});
}

Str page_step(const Page *page, uint32_t index) {
    const Step *step = &page->facts->plan->steps[index];
    Str title = clean_text(page->scratch, facts_step_title(page->facts, step, page->scratch));
    title = text_clip_name(page->scratch, title, (TextCut){page->style.columns / 2, TEXT_CUT_SIXTHS, 0});
    return arena_format(page->scratch, "step %" PRIu32 ": " STR_FMT ", %s", index, STR_ARG(title),
                        column_name(step->column));
}

/* The other buffers of a storage that are alive in [first, last). */
typedef struct {
    BufferId root;
    uint32_t first, last;
    uint32_t room; /* characters, 40 at least */
} Members;

static bool is_member(const Buffer *buffer, BufferId root, uint32_t first, uint32_t last) {
    return buffer->storage.index == root.index && is_buffer(buffer->alias_of) && buffer->first < last &&
           buffer->last > first;
}

/* "t (in_place [1,2)), u (view [2,4)), and 3 more", each with its own steps: as many as there is room for. */
static Str members_text(const Page *page, const Members *members) {
    enum { TAIL = 24 }; /* of ", and 4,294,967,295 more" */
    const Plan *plan = page->facts->plan;
    Str list = {0};
    uint32_t left_out = 0;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *buffer = &plan->buffers[i];
        if (!is_member(buffer, members->root, members->first, members->last)) {
            continue;
        }
        Str longer = arena_format(page->scratch, STR_FMT "%s" STR_FMT " (%s " STR_FMT ")", STR_ARG(list),
                                  list.len == 0 ? "" : ", ", STR_ARG(page_name(page, (BufferId){i})),
                                  alias_reason_name(buffer->alias_reason),
                                  STR_ARG(text_steps(page->scratch, buffer->first, buffer->last)));
        bool fits = left_out == 0 && text_width(longer) + TAIL <= members->room;
        list = fits ? longer : list;
        left_out += !fits;
    }
    if (left_out == 0) {
        return list;
    }
    return arena_format(page->scratch, STR_FMT "%s%" PRIu32 " more", STR_ARG(list), list.len == 0 ? "" : ", and ",
                        left_out);
}

void page_heading(const Page *page, const char *format, ...) {
    va_list args;
    va_start(args, format);
    Str text = str_from(arena_vtext(page->scratch, format, args));
    va_end(args);
    text = text_clip(page->scratch, text, page->style.columns);
    fprintf(page->out, "\n%s" STR_FMT "%s\n", page_color(page, PAGE_BOLD), STR_ARG(text), page_color(page, PAGE_PLAIN));
}

/* Characters that are seen: a colour has none. Names are cleaned, so an escape begins a colour of the page. */
static uint32_t seen_width(Str text) {
    uint32_t width = text_width(text);
    for (size_t i = 0; i < text.len; i++) {
        bool is_color = text.ptr[i] == PAGE_PLAIN[0];
        for (; is_color && i < text.len; i++) {
            width--;
            if (text.ptr[i] == 'm') {
                break;
            }
        }
    }
    return width;
}

/* Characters of `text` up to the last blank that fits, all of them where the rest fits, or at least one word. */
static size_t break_at(Str text, uint32_t room) {
    size_t best = 0;
    if (seen_width(text) <= room) {
        return text.len;
    }
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == ' ' && (best == 0 || seen_width((Str){text.ptr, i}) <= room)) {
            best = i;
        }
    }
    return best == 0 ? text.len : best;
}

void page_line(const Page *page, const char *format, ...) {
    va_list args;
    va_start(args, format);
    Str text = str_from(arena_vtext(page->scratch, format, args));
    va_end(args);
    int indent = PAGE_INDENT;
    while (text.len > 0) {
        size_t length = break_at(text, page->style.columns - (uint32_t)indent);
        fprintf(page->out, "%*s%.*s\n", indent, "", (int)length, text.ptr);
        text = str_trim((Str){text.ptr + length, text.len - length});
        indent = 2 * PAGE_INDENT;
    }
}

/* ---- What was read */

static void print_title(const Page *page) {
    static const char *const format[] = {"ONNX", "TFLite", "text form"};
    const Graph *graph = page->facts->graph;
    Str file = clean_text(page->scratch, str_from(page->facts->file));
    file = text_clip(page->scratch, file, page->style.columns - 24);
    fprintf(page->out, "%s" STR_FMT "%s (%s", page_color(page, PAGE_BOLD), STR_ARG(file), page_color(page, PAGE_PLAIN),
            format[graph->format]);
    if (graph->format == FORMAT_ONNX) {
        fprintf(page->out, ", opset %" PRId32, graph->opset);
    }
    fputs(")\n", page->out);
}

/* ", 7,392 free" */
static const char *left_text(const Page *page, uint64_t bytes, const char *what) {
    return arena_text(page->scratch, ", " STR_FMT " %s", STR_ARG(arena_number(page->scratch, bytes)), what);
}

const char *page_lane(const Device *device, uint32_t memory) {
    return device->memory[memory].lanes > 1 ? " a lane" : "";
}

static const char *need_text(const Page *page, uint32_t memory, uint64_t need_bytes, uint64_t capacity_bytes) {
    const Device *device = page->facts->device;
    bool has_budget = memory == device->local && page->facts->plan->options.budget_bytes > 0;
    return arena_text(page->scratch, STR_FMT " memory needs " STR_FMT " of %s" STR_FMT " bytes%s",
                      STR_ARG(clean_text(page->scratch, device->memory[memory].name)),
                      STR_ARG(page_number(page, need_bytes)), has_budget ? "the --budget of " : "",
                      STR_ARG(arena_number(page->scratch, capacity_bytes)), page_lane(device, memory));
}

/* "; psram memory needs 16,384 of 8,388,608 bytes" */
static const char *further_text(const Page *page) {
    const Plan *plan = page->facts->plan;
    const char *text = "";
    for (uint32_t m = 0; m < plan->device->memory_count; m++) {
        const uint64_t capacity = plan->device->memory[m].bytes;
        if (plan->overflow[m].storage_count > 0 && capacity != UINT64_MAX) {
            text =
                arena_text(page->scratch, "%s; %s", text, need_text(page, m, plan->overflow[m].placed_bytes, capacity));
        }
    }
    return text;
}

/* ", 16 too many beside psram" */
static const char *lack_text(const Page *page, uint32_t memory, uint64_t lack_bytes) {
    return arena_text(page->scratch, "%s%s", left_text(page, lack_bytes, "too many"), words_beside(page, memory));
}

/* The answer in one line; a memory without bounds has no say. */
static void print_verdict(const Page *page) {
    const Facts *facts = page->facts;
    const Plan *plan = facts->plan;
    const uint32_t local = plan->device->local, backing = plan->device->backing;
    const bool is_bounded = plan->backing_capacity_bytes != UINT64_MAX;
    page_line(page, "%s%s%s: %s%s%s%s%s%s", page_color(page, plan_fits(plan) ? PAGE_GOOD : PAGE_BAD),
              plan_fits(plan) ? "fits" : "does not fit", page_color(page, PAGE_PLAIN),
              need_text(page, local, plan->placed_bytes, plan->capacity_bytes),
              plan_local_fits(plan) ? left_text(page, facts->spare_bytes, "free")
                                    : lack_text(page, local, plan->lack_bytes),
              is_bounded ? "; " : "",
              is_bounded ? need_text(page, backing, plan->backing_bytes, plan->backing_capacity_bytes) : "",
              plan_backing_fits(plan) ? "" : lack_text(page, backing, plan->backing_lack_bytes), further_text(page));
}

/* A plan counts tensors. What else lies in the memory of a microcontroller, its runtime knows alone. */
static void print_reserved(const Page *page, const DeviceMemory *local) {
    if (local->reserved_bytes > 0) {
        page_line(page, STR_FMT " bytes of it are the runtime's own (reserved_bytes), " STR_FMT " are for tensors%s",
                  STR_ARG(page_number(page, local->reserved_bytes)), STR_ARG(page_number(page, local->bytes)),
                  page->facts->plan->options.budget_bytes > 0 ? "; --budget takes their place" : "");
    } else if (page->facts->device->kind == DEVICE_ARENA &&
               device_fact(page->facts->device, "memory local", "reserved_bytes") == NULL) {
        page_line(page,
                  "counted are tensors, not what the runtime keeps beside them (reserved_bytes of the device file)");
    }
}

static void print_device(const Page *page) {
    const Device *device = page->facts->device;
    const DeviceMemory *local = &device->memory[device->local];
    Str name = text_device(page->scratch, device);
    const char *lanes =
        local->lanes == 1 ? "" : arena_text(page->scratch, " in each of %" PRIu64 " lanes", local->lanes);
    page_line(page, "device " STR_FMT " (%s): local memory " STR_FMT " bytes%s%s, starts aligned to " STR_FMT,
              STR_ARG(name), device_kind_name(device->kind),
              STR_ARG(page_number(page, local->bytes + local->reserved_bytes)), lanes,
              local->is_assumed ? " (assumed)" : "", STR_ARG(page_number(page, local->align_bytes)));
    print_reserved(page, local);
}

static void print_read(const Page *page) {
    const Plan *plan = page->facts->plan;
    const char *folded = plan->folded_nodes == 0 ? ""
                                                 : arena_text(page->scratch, ", " STR_FMT " folded",
                                                              STR_ARG(page_number(page, plan->folded_nodes)));
    page_line(page, "%s: %s, %s%s", page_count(page, plan->node_count, "node"),
              page_count(page, plan->step_count, "step"), page_count(page, plan->view_nodes, "view"), folded);
    if (plan->planning_only_constants > 0) {
        page_line(page, "%s (%s) configure operators (shapes, axes, bounds) and lie in no memory",
                  page_count(page, plan->planning_only_constants, "constant"),
                  page_count(page, plan->planning_only_bytes, "byte"));
    }
}

static void print_readings(const Page *page) {
    const Facts *facts = page->facts;
    if (facts->other != NULL) {
        page_line(page, "Quantize/Dequantize pairs are read %s: " STR_FMT "; %s: " STR_FMT,
                  facts->reads_qdq_as_float ? "as written (--qdq float)" : "as integer operators (--qdq int)",
                  STR_ARG(words_sizes(page, facts->plan)), facts->reads_qdq_as_float ? "--qdq int" : "--qdq float",
                  STR_ARG(words_sizes(page, facts->other)));
    }
}

static void print_order(const Page *page) {
    Str words = words_order(page);
    if (words.len > 0) {
        page_line(page, STR_FMT, STR_ARG(words));
    }
}

/* Inputs and outputs with both sizes: a caller's buffer needs the physical one (cases H4). */
static void add_tensors(const Page *page, Table *table, const char *what, const ValueId *ids, uint32_t count) {
    const Plan *plan = page->facts->plan;
    for (uint32_t k = 0; k < count; k++) {
        const Value *value = graph_value(page->facts->graph, ids[k]);
        BufferId local = plan->of_value[ids[k].index];
        BufferId id = is_buffer(local) ? local : plan->backing[ids[k].index];
        table_text(table, what);
        table_text(table, dtype_name(value->dtype));
        table_add(table, shape_text(page->scratch, &value->shape));
        table_number(table, is_buffer(id) ? plan_buffer(plan, id)->logical_bytes : 0);
        table_number(table, is_buffer(id) ? plan_buffer(plan, id)->physical_bytes : 0);
        table_add(table, value->name);
    }
}

static void print_tensors(const Page *page) {
    static const char *const heads[] = {"", "", "", "logical", "physical", "name"};
    enum { MOST = 8 };
    const Block *block = graph_main(page->facts->graph);
    Table table;
    table_init(&table, page->scratch, "llsrrn");
    table_head(&table, heads);
    add_tensors(page, &table, "input", block->inputs, block->input_count < MOST ? block->input_count : MOST);
    add_tensors(page, &table, "output", block->outputs, block->output_count < MOST ? block->output_count : MOST);
    table_print(&table, PAGE_INDENT, page->style.columns, page->out);
    if (block->input_count > MOST || block->output_count > MOST) {
        page_line(page, "%" PRIu32 " inputs and %" PRIu32 " outputs in all", block->input_count, block->output_count);
    }
}

/* ---- Totals */

static void add_total(Table *table, const char *name, uint64_t bytes, const char *meaning) {
    table_text(table, name);
    table_add(table, arena_number(table->arena, bytes));
    table_text(table, meaning);
}

static const char *placed_text(const Page *page) {
    return arena_text(page->scratch, "to reserve, at a multiple of " STR_FMT "; %s",
                      STR_ARG(page_number(page, page->facts->device->memory[page->facts->device->local].align_bytes)),
                      words_gap(page));
}

/* The file's own bytes would be more. */
static void print_expanded(const Page *page) {
    const Facts *facts = page->facts;
    if (facts->collapsible_count > 0) {
        page_line(page, "%s stored expanded in the file: " STR_FMT " bytes there, " STR_FMT " planned; see below",
                  page_count(page, facts->collapsible_count, "constant"),
                  STR_ARG(page_number(page, facts->expanded_file_bytes)),
                  STR_ARG(page_number(page, facts->expanded_planned_bytes)));
    }
}

/* "flash memory: 24 of 1,048,576 bytes, for constants"; with maps that local memory has no room for, both terms. */
static void print_backing(const Page *page) {
    const Facts *facts = page->facts;
    const Plan *plan = facts->plan;
    const Device *device = facts->device;
    const char *capacity = "";
    const char *terms = ",";
    const char *maps = "";
    if (plan->backing_capacity_bytes != UINT64_MAX) {
        capacity = arena_text(page->scratch, " of " STR_FMT, STR_ARG(page_number(page, plan->backing_capacity_bytes)));
    }
    if (facts->far_maps.all > 0) {
        terms = arena_text(page->scratch, ": " STR_FMT, STR_ARG(page_number(page, facts->backing_stay_bytes)));
        const char *at_once = facts->far_maps.all_bytes <= plan->far_maps_bytes
                                  ? ""
                                  : arena_text(page->scratch, " (" STR_FMT " in all, not all at once)",
                                               STR_ARG(page_number(page, facts->far_maps.all_bytes)));
        maps = arena_text(page->scratch, ", " STR_FMT " for %s that local memory has no room for%s: see below",
                          STR_ARG(page_number(page, plan->far_maps_bytes)),
                          page_count(page, facts->far_maps.all, "map"), at_once);
    }
    page_line(page, STR_FMT " memory: " STR_FMT "%s bytes%s for constants%s%s",
              STR_ARG(clean_text(page->scratch, device->memory[device->backing].name)),
              STR_ARG(page_number(page, plan->backing_bytes)), capacity, terms,
              device->kind == DEVICE_ARENA ? "" : ", graph inputs and graph outputs", maps);
    for (uint32_t m = 0; m < device->memory_count; m++) {
        const char *words = words_overflow(page, m);
        if (words != NULL) {
            page_line(page, "%s", words);
        }
    }
    print_expanded(page);
}

static const char *capacity_text(const Page *page) {
    const Device *device = page->facts->device;
    uint64_t reserved_bytes = device->memory[device->local].reserved_bytes;
    if (page->facts->plan->options.budget_bytes > 0) {
        return "--budget";
    }
    return reserved_bytes == 0 ? "of the device"
                               : arena_text(page->scratch, "of the device, less " STR_FMT " of its runtime",
                                            STR_ARG(page_number(page, reserved_bytes)));
}

static void print_totals(const Page *page) {
    const Plan *plan = page->facts->plan;
    const Device *device = page->facts->device;
    const DeviceMemory *local = &device->memory[device->local];
    Table table;
    page_heading(page, "local memory, bytes%s", local->lanes == 1 ? "" : " (of one lane; logical: of all)");
    table_init(&table, page->scratch, "lrs");
    add_total(&table, "logical", plan->logical_bytes, "what the buffers hold, all of them");
    add_total(&table, "physical", plan->physical_bytes, "with the layout's padding; bound and placed round starts");
    add_total(&table, "peak", plan->peak_live_bytes, "the most that is alive at one step");
    add_total(&table, "bound", plan->lower_bound_bytes, "no placement needs less");
    add_total(&table, "placed", plan->placed_bytes, placed_text(page));
    if (page->facts->anywhere_bytes != plan->placed_bytes && page->facts->anywhere_bytes != UINT64_MAX) {
        add_total(&table, "anywhere", page->facts->anywhere_bytes, "to reserve where its start is not aligned");
    }
    add_total(&table, "capacity", plan->capacity_bytes, capacity_text(page));
    table_print(&table, PAGE_INDENT, page->style.columns, page->out);
    print_backing(page);
}

/* ---- By kind */

static void add_kind(Table *table, const char *name, KindTotals totals) {
    table_text(table, name);
    table_number(table, totals.logical_bytes);
    table_number(table, totals.physical_bytes);
    table_number(table, totals.at_peak_bytes);
}

/* How many graph inputs and outputs of an arena lie in further memories. */
static uint32_t count_ends_further(const Page *page) {
    const Plan *plan = page->facts->plan;
    uint32_t count = 0;
    for (uint32_t v = 0; v < page->facts->graph->value_count; v++) {
        const Value *value = &page->facts->graph->values[v];
        BufferId id = plan->of_value[v];
        bool is_end = (value->is_input || value->is_output) && value->constant == NULL && is_buffer(id);
        count += is_end && plan->device->memory[plan_buffer(plan, id)->memory].overflow == OVERFLOW_LOCAL;
    }
    return count;
}

/* Where the caller's tensors are. */
static void print_ends(const Page *page) {
    if (page->facts->device->kind != DEVICE_ARENA) {
        page_line(page, "graph inputs and outputs lie in far memory; their local copies are part of these sums");
        return;
    }
    uint32_t further = count_ends_further(page);
    page_line(
        page, "graph inputs and outputs lie inside the arena, as part of these sums%s; constants lie in flash",
        further == 0 ? "" : arena_text(page->scratch, ", but for %" PRIu32 " in further memories, see below", further));
}

static void print_kinds(const Page *page) {
    static const char *const heads[] = {"kind", "logical", "physical", "at the peak"};
    const Facts *facts = page->facts;
    Table table;
    page_heading(page, "local memory by kind, bytes");
    table_init(&table, page->scratch, "lrrr");
    table_head(&table, heads);
    for (int kind = 0; kind < BUFFER_KIND_COUNT; kind++) {
        const KindTotals *totals = &facts->plan->by_kind[kind];
        if (totals->physical_bytes > 0) {
            add_kind(&table, buffer_kind_name((BufferKind)kind), *totals);
        }
    }
    add_kind(&table, "total", facts_totals(facts));
    table_print(&table, PAGE_INDENT, page->style.columns, page->out);
    print_ends(page);
}

/* ---- The peak */

/* Which buffers of a storage are alive at the peak, where that is not the storage's own tensor alone. */
static void print_members(const Page *page, BufferId root) {
    uint32_t step = page->facts->plan->peak_step;
    Str name = page_name(page, root);
    const Members members = {root, step, step + 1, page->style.columns}; /* page_line breaks it */
    Str list = members_text(page, &members);
    if (list.len > 0) {
        page_line(page, "'" STR_FMT "' holds there also: " STR_FMT, STR_ARG(name), STR_ARG(list));
    }
}

static void add_storage(const Page *page, Table *table, Ranked ranked) {
    const Buffer *buffer = plan_buffer(page->facts->plan, ranked.buffer);
    table_number(table, buffer->physical_bytes);
    table_number(table, buffer->logical_bytes);
    table_text(table, buffer_kind_name(buffer->kind));
    table_text(table, dtype_name(buffer->dtype));
    table_add(table, shape_text(page->scratch, &buffer->stored));
    table_add(table, text_steps(page->scratch, buffer->storage_first, buffer->storage_last));
    table_number(table, buffer->offset);
    table_add(table, facts_buffer_name(page->facts, ranked.buffer, page->scratch));
}

static void print_peak(const Page *page) {
    static const char *const heads[] = {"physical", "logical", "kind", "dtype", "stored", "alive", "offset", "name"};
    enum { MOST = 12 };
    const Facts *facts = page->facts;
    const Ranking *peak = &facts->at_peak;
    uint32_t shown = peak->count < MOST ? peak->count : MOST;
    Str bytes = page_number(page, facts->plan->peak_live_bytes);
    if (facts->plan->step_count == 0) {
        page_heading(page, "peak: " STR_FMT " bytes; the model has no step", STR_ARG(bytes));
    } else if (peak->all == 0) {
        page_heading(page, "peak: 0 bytes; nothing lies in local memory");
        return;
    } else {
        page_heading(page, "peak: " STR_FMT " bytes at " STR_FMT, STR_ARG(bytes),
                     STR_ARG(page_step(page, facts->plan->peak_step)));
    }
    Table table;
    uint64_t rest = peak->all_bytes;
    table_init(&table, page->scratch, "rrllssrn");
    table_head(&table, heads);
    for (uint32_t i = 0; i < shown; i++) {
        add_storage(page, &table, peak->top[i]);
        rest -= peak->top[i].bytes;
    }
    table_print(&table, PAGE_INDENT, page->style.columns, page->out);
    if (shown < peak->all) {
        page_line(page, "and %" PRIu32 " more, " STR_FMT " bytes", peak->all - shown, STR_ARG(page_number(page, rest)));
    }
    for (uint32_t i = 0; i < shown; i++) {
        print_members(page, peak->top[i].buffer);
    }
}

void report_terminal(const Facts *facts, TerminalStyle style, Arena *scratch, FILE *out) {
    const Page page = {.facts = facts, .style = style, .scratch = scratch, .out = out};
    print_title(&page);
    print_verdict(&page);
    print_device(&page);
    print_read(&page);
    print_readings(&page);
    print_order(&page);
    print_tensors(&page);
    print_totals(&page);
    print_kinds(&page);
    print_peak(&page);
    page_rewrites(&page);
    page_parameters(&page);
    page_padding(&page);
    page_inputs(&page);
    page_traffic(&page);
    page_far_maps(&page);
    page_overflow(&page);
    page_sweep_list(&page);
    page_sweeps(&page);
    page_drawing(&page);
}
