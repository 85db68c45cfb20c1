/* In place: outputs of element-wise operators that write over an input which dies there.
 *
 * Legal where the input has the output's elements at the output's addresses, nothing reads any byte of its storage
 * later, and nobody outside holds it. The first legal input is taken; else the reason of the first candidate is kept.
 */
#include "plan/declared.h"

#include "node/input.h"

static bool same_dims(const Value *a, const Value *b) {
    for (uint32_t k = 0; k < a->shape.rank; k++) {
        if (a->dims[k] != b->dims[k]) {
            return false;
        }
    }
    return true;
}

/* Do two values have one address map? Of one shape and one name an axis: surely. */
static bool same_map(const Builder *builder, const Value *a, const Value *b) {
    if (shape_eq(&a->shape, &b->shape) && same_dims(a, b)) {
        return true;
    }
    const Tensor left = tensor_of_value(a, ROLE_ACTIVATION), right = tensor_of_value(b, ROLE_ACTIVATION);
    return tensor_same_map(builder->plan->device, &left, &right);
}

/* Does a parameter of the step's sweep lie there? A command may read it again behind its last line. */
static bool is_parameter(Plan *plan, const Step *step, BufferId root) {
    bool is = step->sweep != NOT_IN_SWEEP && plan->sweeps[step->sweep].sweep.in_is_param;
    for (uint32_t i = 0; step->sweep != NOT_IN_SWEEP && i < plan->sweeps[step->sweep].sweep.param_count; i++) {
        BufferId local = plan->sweeps[step->sweep].params[i].local[0];
        is = is || (is_buffer(local) && find_storage(plan, local).index == root.index);
    }
    return is;
}

/* Does another input of the step lie in the same storage at other addresses, or is it read as another one too? */
static bool shares_storage(Plan *plan, const Step *step, BufferId candidate) {
    BufferId root = find_storage(plan, candidate);
    if (is_parameter(plan, step, root)) {
        return true;
    }
    for (uint32_t i = 0; i < step->read_count; i++) {
        BufferId other = step->reads[i];
        if (other.index != candidate.index && find_storage(plan, other).index == root.index) {
            return true;
        }
    }
    return false;
}

static AliasRefusal held_refusal(const Plan *plan, const Buffer *root, const Value *output) {
    bool is_arena = plan->device->kind == DEVICE_ARENA;
    if (root->kind == BUFFER_STATE) {
        return REFUSED_STATE;
    }
    if (root->holds_output) {
        return REFUSED_GRAPH_OUTPUT;
    }
    bool input_pinned = is_arena && root->kind == BUFFER_INPUT && plan->options.pin_inputs;
    bool output_pinned = is_arena && output->is_output && plan->options.pin_outputs;
    return input_pinned || output_pinned ? REFUSED_PINNED : REFUSED_NONE;
}

static AliasRefusal form_refusal(const Builder *builder, const Buffer *input_buffer, const Buffer *output_buffer,
                                 const Value *input, const Value *output) {
    uint64_t in_elements = 0;
    uint64_t out_elements = 0;
    if (dtype_bits(input->dtype) != dtype_bits(output->dtype)) {
        return REFUSED_DTYPE;
    }
    if (!shape_elements(&input->shape, &in_elements) || !shape_elements(&output->shape, &out_elements) ||
        in_elements != out_elements || !shape_eq(&input_buffer->stored, &input->shape)) {
        return REFUSED_BROADCAST;
    }
    if (input_buffer->physical_bytes < output_buffer->physical_bytes) {
        return REFUSED_SMALLER;
    }
    bool same = input_buffer->physical_bytes == output_buffer->physical_bytes && same_map(builder, input, output);
    return same ? REFUSED_NONE : REFUSED_LAYOUT;
}

static AliasRefusal check_candidate(Builder *builder, uint32_t step_index, BufferId input_id, BufferId output_id) {
    Plan *plan = builder->plan;
    const Step *step = &plan->steps[step_index];
    const Buffer *input_buffer = plan_buffer(plan, input_id);
    const Buffer *output_buffer = plan_buffer(plan, output_id);
    const Value *input = graph_value(plan->graph, input_buffer->value);
    const Value *output = graph_value(plan->graph, output_buffer->value);
    const Buffer *root = plan_buffer(plan, find_storage(plan, input_id));
    const Node *node = graph_node(plan->graph, step->node);
    bool may_alias = declared_may_alias(plan, node) && node->inputs[0].index == input_buffer->value.index;
    if (!node_is_elementwise(node) && !may_alias) {
        return REFUSED_OPERATOR;
    }
    AliasRefusal refusal = form_refusal(builder, input_buffer, output_buffer, input, output);
    if (refusal == REFUSED_NONE) {
        refusal = held_refusal(plan, root, output);
    }
    if (refusal != REFUSED_NONE) {
        return refusal;
    }
    if (root->storage_last > step_index + 1) {
        return REFUSED_LATER_READER;
    }
    return shares_storage(plan, step, input_id) ? REFUSED_ELEMENT_ORDER : REFUSED_NONE;
}

/* A part of a concat has its place already: then the input's storage moves there. */
static bool joins_consumer(const Plan *plan, const Buffer *root, const Buffer *output) {
    bool is_input = root->kind == BUFFER_INPUT || root->holds_input;
    bool is_ours = root->kind == BUFFER_ACTIVATION || root->kind == BUFFER_INPUT;
    is_ours = is_ours && (!is_input || plan->device->kind == DEVICE_SCRATCHPAD);
    return is_ours && root->physical_bytes == output->physical_bytes;
}

static void join(Plan *plan, BufferId input_id, BufferId output_id) {
    BufferId root_id = find_storage(plan, input_id);
    Buffer *output = plan_buffer(plan, output_id);
    bool is_part = is_buffer(output->alias_of);
    BufferId child_id = is_part ? root_id : output_id;
    Buffer *child = plan_buffer(plan, child_id);
    child->alias_of = is_part ? output_id : input_id;
    child->alias_reason = is_part ? ALIAS_INTO_CONSUMER : ALIAS_IN_PLACE;
    child->alias_offset_bytes = 0;
    Buffer *root = plan_buffer(plan, find_storage(plan, child_id));
    const Buffer *joined = plan_buffer(plan, child_id);
    root->storage_first = joined->storage_first < root->storage_first ? joined->storage_first : root->storage_first;
    root->storage_last = joined->storage_last > root->storage_last ? joined->storage_last : root->storage_last;
    root->holds_output = root->holds_output || joined->holds_output;
}

static void note_refusal(Plan *plan, BufferId output_id, BufferId candidate, AliasRefusal refusal) {
    Buffer *output = plan_buffer(plan, output_id);
    if (output->refused_alias != REFUSED_NONE || refusal == REFUSED_NONE) {
        return;
    }
    output->refused_alias = refusal;
    output->refused_candidate = candidate;
    if (refusal == REFUSED_LATER_READER) {
        const Buffer *root = plan_buffer(plan, find_storage(plan, candidate));
        output->refused_by = plan->steps[root->storage_last - 1].node;
    }
}

/* Of a sum of a thousand inputs the first few are looked at: each costs a look at all others. */
enum { MOST_CANDIDATES = 16 };

static bool is_candidate(const Plan *plan, BufferId id) {
    if (!is_buffer(id)) {
        return false;
    }
    const Buffer *buffer = plan_buffer(plan, id);
    bool is_constant = !is_value(buffer->value) || graph_value(plan->graph, buffer->value)->constant != NULL;
    return buffer->memory == plan->device->local && !is_constant && buffer->physical_bytes > 0;
}

/* Has the step one result? What its kernel works in is none. */
static bool writes_one(const Plan *plan, const Step *step) {
    bool one = step->write_count > 0 && plan_buffer(plan, step->writes[0])->kind != BUFFER_WORKSPACE;
    for (uint32_t i = 1; i < step->write_count; i++) {
        one = one && plan_buffer(plan, step->writes[i])->kind == BUFFER_WORKSPACE;
    }
    return one;
}

/* The last operator of a sweep over maps that are whole in local memory, line by line: what it reads may end there. */
static bool ends_whole_sweep(const Plan *plan, uint32_t step_index) {
    const PlannedSweep *planned = &plan->sweeps[plan->steps[step_index].sweep];
    bool is_whole = !planned->sweep.in.is_far && !planned->sweep.out.is_far && planned->chosen.best.cost.tiles == 1;
    return is_whole && planned->chosen.best.choice.schedule != SCHEDULE_SPLIT &&
           !view_lines_share_bytes(&planned->sweep.in.whole) && step_index + 1 == planned->last_step;
}

static void try_step(Builder *builder, uint32_t step_index) {
    Plan *plan = builder->plan;
    const Step *step = &plan->steps[step_index];
    bool is_move = step->column == COLUMN_LOAD_INPUT || step->column == COLUMN_LOAD_PARAM ||
                   step->column == COLUMN_STORE || step->column == COLUMN_FILL;
    bool is_decided = step->sweep != NOT_IN_SWEEP && !ends_whole_sweep(plan, step_index);
    if (is_move || is_decided || !is_node(step->node) || !writes_one(plan, step)) {
        return;
    }
    BufferId output_id = step->writes[0];
    const Buffer *output = plan_buffer(plan, output_id);
    bool is_part = output->alias_reason == ALIAS_CONCAT;
    if ((is_buffer(output->alias_of) && !is_part) || output->memory != plan->device->local ||
        output->kind == BUFFER_STATE) {
        return;
    }
    const BufferId *inputs = step->reads;
    uint32_t input_count = step->read_count;
    if (step->sweep != NOT_IN_SWEEP) {
        inputs = plan->sweeps[step->sweep].in_local;
        input_count = 1;
    }
    for (uint32_t i = 0; i < input_count && i < MOST_CANDIDATES; i++) {
        BufferId input_id = inputs[i];
        if (!is_candidate(plan, input_id)) {
            continue;
        }
        AliasRefusal refusal = check_candidate(builder, step_index, input_id, output_id);
        const Buffer *root = plan_buffer(plan, find_storage(plan, input_id));
        if (refusal == REFUSED_NONE && (!is_part || joins_consumer(plan, root, output))) {
            plan_buffer(plan, output_id)->refused_alias = REFUSED_NONE;
            join(plan, input_id, output_id);
            return;
        }
        note_refusal(plan, output_id, input_id, refusal);
    }
}

void build_in_place(Builder *builder) {
    for (uint32_t s = 0; s < builder->plan->step_count; s++) {
        try_step(builder, s);
    }
}
