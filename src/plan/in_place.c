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
static bool same_map(const Plan *plan, const Value *a, const Value *b) {
    if (shape_eq(&a->shape, &b->shape) && same_dims(a, b)) {
        return true;
    }
    const Tensor left = tensor_of_value(a, ROLE_ACTIVATION), right = tensor_of_value(b, ROLE_ACTIVATION);
    return tensor_same_map(plan->device, &left, &right);
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

/* `root` and `output_root` are storages: a view of the output may be what the caller holds. */
static AliasRefusal held_refusal(const Plan *plan, const Buffer *root, const Buffer *output_root) {
    bool is_arena = plan->device->kind == DEVICE_ARENA;
    if (root->kind == BUFFER_STATE) {
        return REFUSED_STATE;
    }
    if (root->holds_output) {
        return REFUSED_GRAPH_OUTPUT;
    }
    bool input_pinned = is_arena && root->kind == BUFFER_INPUT && plan->options.pin_inputs;
    bool output_pinned = is_arena && output_root->holds_output && plan->options.pin_outputs;
    return input_pinned || output_pinned ? REFUSED_PINNED : REFUSED_NONE;
}

static AliasRefusal form_refusal(const Plan *plan, const Buffer *input_buffer, const Buffer *output_buffer,
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
    bool same = input_buffer->physical_bytes == output_buffer->physical_bytes && same_map(plan, input, output);
    return same ? REFUSED_NONE : REFUSED_LAYOUT;
}

/* Whatever is alive when: may the operator write its output over such an input? */
static AliasRefusal write_refusal(const Plan *plan, NodeId id, BufferId input_id, BufferId output_id) {
    const Buffer *input_buffer = plan_buffer(plan, input_id);
    const Buffer *output_buffer = plan_buffer(plan, output_id);
    const Value *input = graph_value(plan->graph, input_buffer->value);
    const Value *output = graph_value(plan->graph, output_buffer->value);
    const Node *node = graph_node(plan->graph, id);
    bool may_alias = declared_may_alias(plan, node) && node->inputs[0].index == input_buffer->value.index;
    return node_is_elementwise(node) || may_alias ? form_refusal(plan, input_buffer, output_buffer, input, output)
                                                  : REFUSED_OPERATOR;
}

static AliasRefusal check_candidate(Plan *plan, uint32_t step_index, BufferId input_id, BufferId output_id) {
    const Step *step = &plan->steps[step_index];
    const Buffer *root = plan_buffer(plan, find_storage(plan, input_id));
    AliasRefusal refusal = write_refusal(plan, step->node, input_id, output_id);
    if (refusal == REFUSED_NONE) {
        refusal = held_refusal(plan, root, plan_buffer(plan, find_storage(plan, output_id)));
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

/* What the step writes, if that may lie in what it reads; else NO_BUFFER. */
static BufferId free_output(const Plan *plan, uint32_t step_index) {
    const Step *step = &plan->steps[step_index];
    bool is_move = step->column == COLUMN_LOAD_INPUT || step->column == COLUMN_LOAD_PARAM ||
                   step->column == COLUMN_STORE || step->column == COLUMN_FILL;
    bool is_decided = step->sweep != NOT_IN_SWEEP && !ends_whole_sweep(plan, step_index);
    if (is_move || is_decided || !is_node(step->node) || !writes_one(plan, step)) {
        return NO_BUFFER;
    }
    const Buffer *output = plan_buffer(plan, step->writes[0]);
    return output->memory == plan->device->local && output->kind != BUFFER_STATE ? step->writes[0] : NO_BUFFER;
}

/* What it might lie in; of them `count`. */
static const BufferId *candidates(const Plan *plan, const Step *step, uint32_t *count) {
    bool is_sweep = step->sweep != NOT_IN_SWEEP;
    *count = is_sweep ? 1 : step->read_count < MOST_CANDIDATES ? step->read_count : MOST_CANDIDATES;
    return is_sweep ? plan->sweeps[step->sweep].in_local : step->reads;
}

static void try_step(Plan *plan, uint32_t step_index) {
    BufferId output_id = free_output(plan, step_index);
    if (!is_buffer(output_id)) {
        return;
    }
    const Buffer *output = plan_buffer(plan, output_id);
    bool is_part = output->alias_reason == ALIAS_CONCAT;
    if (is_buffer(output->alias_of) && !is_part) {
        return;
    }
    uint32_t count;
    const BufferId *inputs = candidates(plan, &plan->steps[step_index], &count);
    for (uint32_t i = 0; i < count; i++) {
        BufferId input_id = inputs[i];
        if (!is_candidate(plan, input_id)) {
            continue;
        }
        AliasRefusal refusal = check_candidate(plan, step_index, input_id, output_id);
        const Buffer *root = plan_buffer(plan, find_storage(plan, input_id));
        if (refusal == REFUSED_NONE && (!is_part || joins_consumer(plan, root, output))) {
            plan_buffer(plan, output_id)->refused_alias = REFUSED_NONE;
            join(plan, input_id, output_id);
            return;
        }
        note_refusal(plan, output_id, input_id, refusal);
    }
}

void build_in_place(Plan *plan) {
    for (uint32_t s = 0; s < plan->step_count; s++) {
        try_step(plan, s);
    }
}

BufferId overwriting_output(const Plan *plan, uint32_t step) {
    return free_output(plan, step);
}

bool may_overwrite(const Plan *plan, uint32_t step, BufferId input) {
    uint32_t count;
    const BufferId *inputs = candidates(plan, &plan->steps[step], &count);
    bool is_one = false;
    for (uint32_t i = 0; i < count; i++) {
        is_one = is_one || inputs[i].index == input.index;
    }
    BufferId output = free_output(plan, step);
    return is_one && is_buffer(output) && is_candidate(plan, input) &&
           write_refusal(plan, plan->steps[step].node, input, output) == REFUSED_NONE;
}
