/* Reasons and remedies in words. */
#include "report/page.h"

#include <inttypes.h>
#include <string.h>

const char *words_gap(const Page *page) {
    const Plan *plan = page->facts->plan;
    uint64_t gap_bytes = plan->placed_bytes - plan->lower_bound_bytes;
    return gap_bytes == 0 ? "optimal: equals the bound"
                          : arena_text(page->scratch, STR_FMT " above the bound, not proven optimal",
                                       STR_ARG(page_number(page, gap_bytes)));
}

const char *words_unused(const Page *page) {
    const Misfit *misfit = &page->facts->misfit;
    Str name = clean_text(page->scratch, misfit->unused->name);
    Str instead = clean_text(page->scratch, misfit->unused_for->name);
    bool has_other = misfit->unused->overflow != OVERFLOW_NONE;
    return misfit->unused_is_for_weights
               ? arena_text(page->scratch, "raise bytes of [memory " STR_FMT "] by what '" STR_FMT "' may hold",
                            STR_ARG(instead), STR_ARG(name))
               : arena_text(page->scratch, "%s [memory " STR_FMT "] 'overflow = " STR_FMT " @ SOURCE'%s",
                            has_other ? "change in" : "add to", STR_ARG(name), STR_ARG(instead),
                            has_other ? ", in place of what it has" : "");
}

static Str memory_name(const Page *page, uint32_t memory) {
    return clean_text(page->scratch, page->facts->device->memory[memory].name);
}

static bool first_fits(const Plan *plan, uint32_t first) {
    return first == plan->device->local ? plan_local_fits(plan) : plan_backing_fits(plan);
}

/* "psram memory of 8,192 bytes: no way was found to fit it, so all is counted in local memory" */
static const char *words_in_vain(const Page *page, uint32_t memory) {
    const DeviceMemory *to = &page->facts->device->memory[memory];
    const char *capacity =
        to->bytes == UINT64_MAX ? "" : arena_text(page->scratch, " of %s", page_count(page, to->bytes, "byte"));
    return arena_text(page->scratch,
                      STR_FMT " memory%s: empty; no way was found to fit all with it, so all is counted in " STR_FMT
                              " memory",
                      STR_ARG(memory_name(page, memory)), capacity,
                      STR_ARG(memory_name(page, device_first(page->facts->device, memory))));
}

const char *words_overflow(const Page *page, uint32_t memory) {
    const Plan *plan = page->facts->plan;
    const Device *device = page->facts->device;
    const uint32_t first = device_first(device, memory);
    const DeviceMemory *to = &device->memory[memory], *of = &device->memory[first];
    const PlanOverflow *there = &plan->overflow[memory];
    if (there->storage_count == 0) {
        return memory == first || first_fits(plan, first) ? NULL : words_in_vain(page, memory);
    }
    const char *capacity =
        to->bytes == UINT64_MAX ? "" : arena_text(page->scratch, " of " STR_FMT, STR_ARG(page_number(page, to->bytes)));
    return arena_text(page->scratch,
                      STR_FMT " memory: " STR_FMT "%s bytes, for %s that " STR_FMT
                              " memory leaves to it; a byte there costs %" PRIu64 ", in " STR_FMT " %" PRIu64 "%s",
                      STR_ARG(memory_name(page, memory)), STR_ARG(page_number(page, there->placed_bytes)), capacity,
                      page_count(page, there->storage_count, "buffer"), STR_ARG(of->name), to->price, STR_ARG(of->name),
                      of->price, there->is_cheapest ? ": the cheapest choice, proven" : "");
}

const char *words_further(const Page *page, const Plan *plan) {
    const char *words = "";
    for (uint32_t m = 0; m < plan->device->memory_count; m++) {
        if (plan->overflow[m].storage_count > 0) {
            words = arena_text(page->scratch, "%s, " STR_FMT " " STR_FMT, words, STR_ARG(memory_name(page, m)),
                               STR_ARG(page_number(page, plan->overflow[m].placed_bytes)));
        }
    }
    return words;
}

Str words_sizes(const Page *page, const Plan *plan) {
    return arena_format(page->scratch, "peak " STR_FMT ", placed " STR_FMT "%s",
                        STR_ARG(page_number(page, plan->peak_live_bytes)),
                        STR_ARG(page_number(page, plan->placed_bytes)), words_further(page, plan));
}

const char *words_beside(const Page *page, uint32_t memory) {
    const Device *device = page->facts->device;
    const char *words = "";
    for (uint32_t m = 0; m < device->memory_count; m++) {
        if (m != memory && device_first(device, m) == memory) {
            words = arena_text(page->scratch, "%s%s" STR_FMT, words, words[0] == '\0' ? " beside " : ", ",
                               STR_ARG(memory_name(page, m)));
        }
    }
    return words;
}

const char *words_alias(const Plan *plan, const Buffer *buffer) {
    static const char *const words[] = {
        [ALIAS_NONE] = "bytes of its own",
        [ALIAS_VIEW] = "a view: the same bytes under another shape, at the same addresses",
        [ALIAS_IN_PLACE] = "written over an input that nothing reads later, element by element, of one size and layout",
        [ALIAS_CONCAT] = "written where the concatenation has this part, in the same layout",
        [ALIAS_SPLIT] = "a slice read where it lies: it has the layout there that it has alone",
        [ALIAS_INTO_CONSUMER] = "its bytes lie in its consumer's output, which is written over it",
    };
    AliasReason reason = buffer->alias_reason;
    bool is_part = reason == ALIAS_VIEW && plan_buffer(plan, buffer->alias_of)->logical_bytes > buffer->logical_bytes;
    return words[is_part ? ALIAS_SPLIT : reason];
}

static const char *refusal_text(AliasRefusal refusal) {
    static const char *const words[] = {
        [REFUSED_NONE] = "",
        [REFUSED_LATER_READER] = "it is read later",
        [REFUSED_GRAPH_OUTPUT] = "the caller holds both, as two buffers",
        [REFUSED_PINNED] = "its place is settled, by the caller or by what it is part of",
        [REFUSED_CONSTANT] = "it is a constant, and a constant may not be overwritten",
        [REFUSED_DTYPE] = "the elements have another size",
        [REFUSED_LAYOUT] = "the layout puts the same elements at other addresses",
        [REFUSED_ELEMENT_ORDER] = "the same bytes hold the elements in another order",
        [REFUSED_BROADCAST] = "one of them repeats the other's elements",
        [REFUSED_SMALLER] = "the bytes that it would share are fewer than it needs",
        [REFUSED_STATE] = "it is state, which must outlive the run",
        [REFUSED_OPERATOR] = "the operator does not work element by element",
    };
    return words[refusal];
}

/* The last step at which a node runs. */
static uint32_t last_step_of(const Plan *plan, NodeId node) {
    uint32_t last = 0;
    for (uint32_t s = 0; s < plan->step_count; s++) {
        last = plan->steps[s].node.index == node.index && plan->steps[s].column != COLUMN_STORE ? s : last;
    }
    return last;
}

/* The output of the concatenation that reads `id`, or no buffer. */
static BufferId find_whole(const Plan *plan, BufferId id) {
    for (uint32_t s = 0; s < plan->step_count; s++) {
        const Step *step = &plan->steps[s];
        bool is_concat = is_node(step->node) && op_info(graph_node(plan->graph, step->node)->op)->kind == KIND_CONCAT;
        for (uint32_t i = 0; is_concat && step->write_count > 0 && i < step->read_count; i++) {
            if (step->reads[i].index == id.index) {
                return step->writes[0];
            }
        }
    }
    return NO_BUFFER;
}

/* A part of a concatenation has no candidate: its place there was refused. */
static Str no_candidate_text(const Page *page, const Buffer *buffer) {
    const Plan *plan = page->facts->plan;
    const char *reason = refusal_text(buffer->refused_alias);
    BufferId whole = find_whole(plan, (BufferId){(uint32_t)(buffer - plan->buffers)});
    if (buffer->refused_alias == REFUSED_CONSTANT || !is_buffer(whole)) {
        return str_from(reason);
    }
    return arena_format(page->scratch, "not as a part of '" STR_FMT "': %s", STR_ARG(page_name(page, whole)), reason);
}

/* "b", or "t (in 'b')" where the bytes are known by another name. */
static Str name_in_storage(const Page *page, BufferId id) {
    BufferId root = plan_buffer(page->facts->plan, id)->storage;
    Str name = page_name(page, id);
    return root.index == id.index ? arena_format(page->scratch, "'" STR_FMT "'", STR_ARG(name))
                                  : arena_format(page->scratch, "'" STR_FMT "' (in '" STR_FMT "')", STR_ARG(name),
                                                 STR_ARG(page_name(page, root)));
}

static OpKind kind_of(const Plan *plan, NodeId node) {
    return is_node(node) ? op_info(graph_node(plan->graph, node)->op)->kind : KIND_COMPUTE;
}

Str words_copy(const Page *page, BufferId output) {
    const Plan *plan = page->facts->plan;
    const Buffer *buffer = plan_buffer(plan, output);
    if (kind_of(plan, buffer->node) != KIND_STATE) {
        return (Str){0};
    }
    uint32_t last = plan_buffer(plan, buffer->storage)->storage_last - 1;
    return arena_format(page->scratch, "the variable may be written before its old value is read last, at " STR_FMT,
                        STR_ARG(page_step(page, last)));
}

/* What only moves elements is no arithmetic that could run in place. */
static Str operator_text(const Page *page, const Buffer *buffer) {
    const Plan *plan = page->facts->plan;
    OpKind kind = kind_of(plan, buffer->node);
    Str copy = words_copy(page, (BufferId){(uint32_t)(buffer - plan->buffers)});
    bool is_move = kind == KIND_RESHAPE || kind == KIND_TRANSPOSE || kind == KIND_SLICE || kind == KIND_CONCAT ||
                   kind == KIND_EXPAND;
    return copy.len > 0 ? copy
           : is_move    ? STR("a copy puts the elements elsewhere, while others are still to be read")
                        : str_from(refusal_text(REFUSED_OPERATOR));
}

/* "'b' is still read at step 2: 'op1' (Mul), multiply" */
Str words_refusal(const Page *page, const Buffer *buffer) {
    const Facts *facts = page->facts;
    const char *reason = refusal_text(buffer->refused_alias);
    if (!is_buffer(buffer->refused_candidate)) {
        return no_candidate_text(page, buffer);
    }
    Str candidate = name_in_storage(page, buffer->refused_candidate);
    if (buffer->refused_alias == REFUSED_OPERATOR) {
        return arena_format(page->scratch, STR_FMT ": " STR_FMT, STR_ARG(candidate),
                            STR_ARG(operator_text(page, buffer)));
    }
    if (buffer->refused_alias != REFUSED_LATER_READER || !is_node(buffer->refused_by)) {
        return arena_format(page->scratch, STR_FMT ": %s", STR_ARG(candidate), reason);
    }
    Str reader = page_step(page, last_step_of(facts->plan, buffer->refused_by));
    return arena_format(page->scratch, STR_FMT " is still read at " STR_FMT, STR_ARG(candidate), STR_ARG(reader));
}

Str words_no_view(const Page *page, NodeId id) {
    const Plan *plan = page->facts->plan;
    OpKind kind = is_node(id) ? op_info(graph_node(plan->graph, id)->op)->kind : KIND_COMPUTE;
    if (plan->sub_views_placed_bytes == 0 || (kind != KIND_SLICE && kind != KIND_CONCAT)) {
        return (Str){0};
    }
    return arena_format(page->scratch, "as a view the network would need " STR_FMT " bytes, not " STR_FMT,
                        STR_ARG(page_number(page, plan->sub_views_placed_bytes)),
                        STR_ARG(page_number(page, plan->unspilled_placed_bytes)));
}

/* "peak 4,864, placed 4,864, with other memories peak 768, placed 768, psram 4,096" */
static Str order_sizes(const Page *page, const Plan *plan) {
    const char *further = words_further(page, plan);
    const bool has_spilled = plan->unspilled_placed_bytes != plan->placed_bytes;
    if (!has_spilled) {
        return words_sizes(page, plan);
    }
    return arena_format(
        page->scratch,
        "peak " STR_FMT ", placed " STR_FMT ", with other memories peak " STR_FMT ", placed " STR_FMT "%s",
        STR_ARG(page_number(page, plan->unspilled_peak_bytes)),
        STR_ARG(page_number(page, plan->unspilled_placed_bytes)), STR_ARG(page_number(page, plan->peak_live_bytes)),
        STR_ARG(page_number(page, plan->placed_bytes)), further);
}

/* What of the plan in the order of the file does not fit; empty where all does. */
static const char *order_misfit(const Page *page, const Plan *of_file) {
    const Device *device = page->facts->device;
    uint32_t memory = plan_local_fits(of_file) ? device->backing : device->local;
    return plan_fits(of_file) ? ""
                              : arena_text(page->scratch, ", more than " STR_FMT " memory holds%s",
                                           STR_ARG(memory_name(page, memory)), words_beside(page, memory));
}

/* "; 1,000 cycles a run, in the order of the file 900" */
static const char *order_cycles(const Page *page) {
    const Facts *facts = page->facts;
    if (!facts->has_costs || facts->file_order_cycles == UINT64_MAX) {
        return "";
    }
    return arena_text(page->scratch, "; " STR_FMT " cycles in a first run, in the order of the file " STR_FMT,
                      STR_ARG(page_number(page, facts->first_run.cost.cycles)),
                      STR_ARG(page_number(page, facts->file_order_cycles)));
}

Str words_order(const Page *page) {
    const Plan *plan = page->facts->plan;
    const PlanOrder *order = plan->order;
    if (order == NULL) {
        return (Str){0};
    }
    const char *lowest = order->is_lowest ? "; no order has a lower peak with the views that are here" : "";
    if (order->moved == 0) {
        return arena_format(page->scratch, "--order memory: that of the file%s",
                            !order->has_choice ? ": there is no other with the views that are here"
                            : order->is_lowest ? lowest
                                               : "; no better one was found");
    }
    return arena_format(
        page->scratch, "--order memory: %s at another place, " STR_FMT "; in the order of the file " STR_FMT "%s%s%s",
        page_count(page, order->moved, "operator"), STR_ARG(order_sizes(page, plan)),
        STR_ARG(order_sizes(page, order->of_file)), order_misfit(page, order->of_file), lowest, order_cycles(page));
}

static const char *reason_text(WholeReason reason) {
    static const char *const words[] = {
        [WHOLE_NONE] = "",
        [WHOLE_ROOM] = "there is room for its whole maps",
        [WHOLE_OPTION] = "--tile none asks for whole maps",
        [WHOLE_OUTPUTS] = "parts are made of operators with one output",
        [WHOLE_INPUTS] = "it has more inputs than are loaded part by part",
        [WHOLE_STATE] = "it makes state, or other operators run inside it",
        [WHOLE_MAP] = "it reads no map that parts could be loaded of",
        [WHOLE_OPERATOR] = "which part of its input a part of its output needs is not known of this operator",
        [WHOLE_ELEMENTS] = "every element of its output may need all of its input",
        [WHOLE_LAYOUT] = "no part of it has a layout on the device, or is as short as a transfer",
        [WHOLE_GAIN] = "by tiles the network needs no less",
    };
    return words[reason];
}

/* A reshape is a copy only where the layout makes it one. */
static Str copied_text(const Page *page) {
    Str contract = clean_text(page->scratch, contract_text(page->facts->device->contract[ROLE_ACTIVATION]));
    return arena_format(page->scratch,
                        "a reshape moves nothing unless the layout puts the elements elsewhere, as the activation "
                        "contract '" STR_FMT "' does here; a device file of your own can state another",
                        STR_ARG(contract));
}

Str words_whole(const Page *page, WholeReason reason, NodeId node) {
    bool is_copy = reason == WHOLE_ELEMENTS && kind_of(page->facts->plan, node) == KIND_RESHAPE;
    return is_copy ? copied_text(page) : str_from(reason_text(reason));
}

bool words_is_lack(const char *kind) {
    return strncmp(kind, "larger_", 7) == 0;
}

static const char *remedy_text(const char *kind) {
    static const char *const words[][2] = {
        {"compact_parameters", "keep parameters compact: leave out --strategy"},
        {"in_place", "let operators write over dying inputs: --inplace auto"},
        {"order", "take another order of the operators: --order memory"},
        {"unpin_inputs", "let graph inputs be reused: leave out --pin-inputs"},
        {"unpin_outputs", "let memory of graph outputs be used before: leave out --pin-outputs"},
        {"tiles", "go over maps tile by tile, with the maps in far memory"},
        {"larger_memory", "take a device with a larger memory, or a larger --budget"},
        {"larger_flash", "take a device with more flash, or a smaller model"},
        {"larger_far", "take a device with more far memory, or a smaller model"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i][0], kind) == 0) {
            return words[i][1];
        }
    }
    return kind;
}

/* Where others take the overflow, the bytes alone do not tell what is enough. */
const char *words_remedy(const Page *page, const Remedy *remedy) {
    const Plan *plan = page->facts->plan;
    if (strcmp(remedy->kind, "larger_overflow") == 0) {
        return arena_text(page->scratch, "take a device with a larger " STR_FMT " memory",
                          STR_ARG(memory_name(page, remedy->memory)));
    }
    bool is_news = !words_is_lack(remedy->kind) && remedy->fits && plan_has_overflow(plan, plan->device->local);
    return arena_text(page->scratch, "%s%s", remedy_text(remedy->kind), is_news ? "; then it fits" : "");
}
