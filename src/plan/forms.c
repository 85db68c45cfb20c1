/* Forms: what of a broadcast parameter a node that works element by element reads, and why.
 *
 * A parameter is one number, one a channel, a row of pixels or a whole map; or it is an arbitrary broadcast (numbers
 * along W, or along some axes), which is none of these: as it lies only an engine reads it that reads all forms. What
 * the engine reads in no form stays as it is stored, with a warning: its bytes are true, the engine can't use them. */
#include "plan/builder.h"

#include "node/input.h"

#include <string.h>

/* ---- What the engine reads */

static bool reads_all(const Device *device) {
    bool all = true;
    for (Form form = FORM_SCALAR; form < FORM_COUNT; form++) {
        all = all && device->form[form].readable;
    }
    return all;
}

static bool is_readable(const Device *device, Form form) {
    return form == FORM_COUNT ? reads_all(device) : device->form[form].readable;
}

/* An arbitrary broadcast is read element by element, as a whole map is. */
static uint64_t grain_of(const Device *device, Form form) {
    if (form == FORM_COUNT) {
        return reads_all(device) ? device->form[FORM_FULL].grain_bytes : 0;
    }
    return device->form[form].grain_bytes;
}

/* ---- A parameter in a form */

static Broadcast broadcast_of(Form form) {
    static const Broadcast broadcast[] = {[FORM_SCALAR] = BROADCAST_SCALAR,
                                          [FORM_CHANNEL] = BROADCAST_CHANNEL,
                                          [FORM_ROW] = BROADCAST_ROW,
                                          [FORM_FULL] = BROADCAST_FULL};
    return broadcast[form];
}

Tensor form_store(const Builder *builder, const Operand *operand, Form form, Buffer *made) {
    bool is_map = form == FORM_ROW || form == FORM_FULL;
    if (form != operand->form || form == FORM_FULL) {
        made->stored = operand_form_shape(operand, form);
        made->broadcast = broadcast_of(form);
        made->axis = operand->axis >= 0 || form == FORM_FULL ? operand->axis : operand->spread_axis;
        made->start = operand->start;
        made->varies = operand->varies;
        made->role = is_map ? ROLE_ACTIVATION : ROLE_PARAMETER; /* what has rows lies beside the map, as the map does */
        memcpy(made->dims, operand->map->dims, sizeof made->dims);
    }
    made->is_formless = form == FORM_COUNT;
    Tensor tensor = tensor_of_buffer(builder->plan->graph, made);
    tensor.grain_bytes = grain_of(builder->plan->device, form);
    return tensor;
}

uint64_t form_grain(const Builder *builder, const Buffer *stored) {
    Form form = stored->is_formless ? FORM_COUNT : FORM_SCALAR;
    while (form < FORM_COUNT && broadcast_of(form) != stored->broadcast) {
        form++;
    }
    return stored->broadcast == BROADCAST_NONE ? 1 : grain_of(builder->plan->device, form);
}

/* Of one bank, and of all. */
typedef struct {
    uint64_t bank, all;
} FormBytes;

/* What a local copy of `compact` in `form` occupies; UINT64_MAX where the form does not hold it, or the device has no
 * layout for it. */
static FormBytes form_bytes(const Builder *builder, const Operand *operand, const Buffer *compact, Form form) {
    FormBytes bytes = {UINT64_MAX, UINT64_MAX};
    Buffer copy = *compact;
    View view;
    if (form != operand->form && !operand_fits_form(operand, form)) {
        return bytes;
    }
    Tensor tensor = form_store(builder, operand, form, &copy);
    if (tensor_find_view(builder->plan->device, &tensor, &view)) {
        bytes.bank = view.bank_bytes;
        bytes.all = view_all_banks_bytes(view.bank_bytes, view.banks_used, &bytes.all) ? bytes.all : UINT64_MAX;
    }
    return bytes;
}

FormCosts *form_costs(const Builder *builder, const Operand *operand, const Buffer *compact) {
    FormCosts *costs = arena_new(&builder->work->keep, FormCosts);
    const FormBytes row = form_bytes(builder, operand, compact, FORM_ROW),
                    full = form_bytes(builder, operand, compact, FORM_FULL);
    *costs = (FormCosts){.compact_bytes = form_bytes(builder, operand, compact, operand->form).bank,
                         .channel_bytes = form_bytes(builder, operand, compact, FORM_CHANNEL).bank,
                         .row_bytes = row.bank,
                         .full_bytes = full.bank,
                         .all_row_bytes = row.all,
                         .all_full_bytes = full.all};
    return costs;
}

/* ---- The choice */

static Form form_asked(Strategy strategy) {
    static const Form form[] = {[STRATEGY_AUTO] = FORM_SCALAR,
                                [STRATEGY_SCALAR] = FORM_SCALAR,
                                [STRATEGY_CHANNEL] = FORM_CHANNEL,
                                [STRATEGY_ROW] = FORM_ROW,
                                [STRATEGY_FULL] = FORM_FULL};
    return form[strategy];
}

/* Its place among the forms: an arbitrary broadcast is at least a list of numbers, and no row. */
static Form rank_of(Form form) {
    return form == FORM_COUNT ? FORM_CHANNEL : form;
}

/* The smallest form from `least` on that holds the parameter and that the engine reads; FORM_COUNT where there is none.
 */
static Form smallest_readable(const Device *device, const Operand *operand, Form least) {
    Form form = least;
    while (form < FORM_COUNT && !(device->form[form].readable && operand_fits_form(operand, form))) {
        form++;
    }
    return form;
}

static const char *strategy_reason(const Device *device, Form asked, Form form) {
    return form == asked                  ? "asked for by --strategy"
           : device->form[asked].readable ? "the form that --strategy asks for does not hold it"
                                          : "the engine does not read the form that --strategy asks for";
}

/* As asked; else as it is stored, where the engine reads that; else the smallest form that it reads; else as it is. */
static FormChoice choose_readable(const Device *device, const Operand *operand, Form asked) {
    bool is_asked = asked > rank_of(operand->form);
    Form form = is_asked ? smallest_readable(device, operand, asked) : FORM_COUNT;
    if (form < FORM_COUNT) {
        return (FormChoice){form, strategy_reason(device, asked, form)};
    }
    if (is_readable(device, operand->form)) {
        return (FormChoice){operand->form, NULL};
    }
    form = smallest_readable(device, operand, FORM_SCALAR);
    return form < FORM_COUNT ? (FormChoice){form, "the engine reads no smaller form in place"}
                             : (FormChoice){operand->form, NULL};
}

static bool map_has_elements(const Operand *operand) {
    uint64_t elements;
    return shape_elements(&operand->map->shape, &elements) && elements > 0;
}

/* The form that a local copy takes: the one the user asked for, or else, of those that the engine reads, the one of the
 * fewest bytes. That is the most compact one but where each of its elements takes a whole block. */
FormChoice form_choose(const Builder *builder, const Operand *operand, const Buffer *compact) {
    const Plan *plan = builder->plan;
    const Device *device = plan->device;
    FormChoice choice = choose_readable(device, operand, form_asked(plan->options.strategy));
    bool is_free = plan->options.strategy == STRATEGY_AUTO && device->kind == DEVICE_SCRATCHPAD &&
                   is_readable(device, choice.form);
    bool has_elements = compact->logical_bytes > 0 && map_has_elements(operand);
    for (Form form = rank_of(choice.form) + 1; is_free && has_elements && form < FORM_COUNT; form++) {
        bool is_smaller = device->form[form].readable && form_bytes(builder, operand, compact, form).bank <
                                                             form_bytes(builder, operand, compact, choice.form).bank;
        if (is_smaller) {
            choice = (FormChoice){form, "smaller than the compact form on this device"};
        }
    }
    return choice;
}

/* An engine that reads an element as a whole block reads none of a map. */
static bool is_read_as_it_lies(const Builder *builder, const Operand *operand, const Buffer *map) {
    const Device *device = builder->plan->device;
    uint64_t bits = dtype_bits(map->dtype), grain = grain_of(device, operand->form);
    return is_readable(device, operand->form) && (grain <= 1 || grain * 8 <= bits);
}

FormChoice form_of_map(const Builder *builder, const Operand *operand, const Buffer *map) {
    const Device *device = builder->plan->device;
    FormChoice choice = {operand->form, NULL};
    uint64_t least = UINT64_MAX;
    bool is_free = !is_read_as_it_lies(builder, operand, map);
    for (Form form = FORM_SCALAR; is_free && form < FORM_COUNT; form++) {
        bool holds = device->form[form].readable && operand_fits_form(operand, form);
        uint64_t bytes = holds ? form_bytes(builder, operand, map, form).bank : UINT64_MAX;
        if (bytes < least) {
            choice = (FormChoice){form, "the engine does not read the map in place as it repeats"};
            least = bytes;
        }
    }
    return choice;
}

/* ---- Warnings */

/* Of all steps: a parameter that is not as the engine or the user wants it. */
typedef struct {
    const char *text; /* of the first; null where there is none */
    Str tensor;
    uint64_t count;
} Found;

static void note(Found *found, Str tensor, const char *text) {
    found->tensor = found->count == 0 ? tensor : found->tensor;
    found->text = found->count == 0 ? text : found->text;
    found->count++;
}

static const char *readable_forms(const Device *device, Arena *arena) {
    const char *list = "";
    for (Form form = FORM_SCALAR; form < FORM_COUNT; form++) {
        if (device->form[form].readable) {
            list = arena_text(arena, "%s%s%s", list, list[0] == '\0' ? "" : ", ", form_name(form));
        }
    }
    return list;
}

static const char *form_text(const Operand *operand, Arena *arena) {
    bool is_vector = operand->form == FORM_COUNT && operand->axis >= 0;
    return is_vector ? arena_text(arena, "as numbers along axis %d, called %c,", (int)operand->axis,
                                  dim_letter((Dim)operand->map->dims[operand->axis]))
                     : arena_text(arena, "in the form %s,", broadcast_name(operand->broadcast));
}

/* The buffer that the step reads for input `k`: reads are in the order of inputs, of which some are not listed. */
static const Buffer *read_of(const Plan *plan, const Step *step, uint32_t k, ValueId value) {
    for (uint32_t i = k < step->read_count ? k + 1 : step->read_count; i-- > 0;) {
        const Buffer *buffer = plan_buffer(plan, step->reads[i]);
        if (buffer->value.index == value.index) {
            return buffer;
        }
    }
    return NULL;
}

typedef struct {
    const Plan *plan;
    Work *work;
    Found unreadable, unasked;
} FormCheck;

static void check_operand(FormCheck *check, const Step *step, uint32_t k) {
    const Plan *plan = check->plan;
    const Node *node = graph_node(plan->graph, step->node);
    const Value *value = node_input(plan->graph, node, k);
    Arena *arena = &check->work->keep;
    Operand operand;
    if (value == NULL || value->constant == NULL || !operand_of(plan, node, k, check->work, &operand) ||
        operand.broadcast == BROADCAST_NONE) {
        return;
    }
    const Buffer *buffer = read_of(plan, step, k, node->inputs[k]);
    if (buffer == NULL || buffer->materialised_reason != NULL) {
        return;
    }
    const char *title = arena_text(arena, STR_FMT, STR_ARG(node_title(arena, node)));
    if (!is_readable(plan->device, operand.form)) {
        note(&check->unreadable, value->name,
             arena_text(
                 arena, "operator %s reads this parameter %s which the engine of " STR_FMT " does not; it reads %s",
                 title, form_text(&operand, arena), STR_ARG(plan->device->name), readable_forms(plan->device, arena)));
    } else if (form_asked(plan->options.strategy) > rank_of(operand.form)) {
        note(&check->unasked, value->name,
             arena_text(
                 arena,
                 "--strategy %s expands this parameter of operator %s to no larger form, for the engine of " STR_FMT
                 " reads none: it reads %s",
                 form_name(form_asked(plan->options.strategy)), title, STR_ARG(plan->device->name),
                 readable_forms(plan->device, arena)));
    }
}

static void warn(const Found *found, const char *hint, Work *work) {
    if (found->count == 0) {
        return;
    }
    unsigned long long others = found->count - 1;
    const char *what =
        others == 0 ? found->text : arena_text(&work->keep, "%s; so it is with %llu more", found->text, others);
    diag_warn(&work->diags, (DiagText){.tensor = found->tensor, .what = what, .hint = hint});
}

void plan_warn_of_forms(const Plan *plan, Work *work) {
    FormCheck check = {.plan = plan, .work = work};
    for (uint32_t s = 0; s < plan->step_count; s++) {
        const Step *step = &plan->steps[s];
        bool is_computed = step->column == COLUMN_MULTIPLY || step->column == COLUMN_ADD ||
                           step->column == COLUMN_COMPUTE || step->column == COLUMN_REQUANTIZE;
        if (!is_computed || !is_node(step->node) || !node_is_elementwise(graph_node(plan->graph, step->node))) {
            continue;
        }
        for (uint32_t k = 0; k < graph_node(plan->graph, step->node)->input_count; k++) {
            check_operand(&check, step, k);
        }
    }
    warn(&check.unreadable,
         "its bytes are planned as they are stored; run the operator elsewhere, or give the parameter one number a "
         "channel",
         work);
    warn(&check.unasked, "it is planned in the form that is read", work);
}
