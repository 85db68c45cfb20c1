/* Views: outputs that are a rule over their input's bytes, and inputs that can lie inside an output.
 *
 * A layout's address is a sum of one term a dimension, so two layouts agree inside a box where they agree along each
 * dimension of it alone: the sum of the extents is looked at, not their product. */
#include "plan/declared.h"

#include "graph/box.h"

static bool view_of_value(Builder *builder, const Value *value, View *view, Tensor *tensor) {
    *tensor = tensor_of_value(value, ROLE_ACTIVATION);
    return tensor_view(builder->plan->device, tensor, &builder->work->diags, view);
}

/* ---- Reshape, Transpose: the same elements in order */

/* Axes that are folded into one dimension keep their order only where the permutation keeps it. */
static bool keeps_folds(const ViewAxis *axes, const uint32_t *perm, uint32_t rank) {
    for (uint32_t a = 0; a < rank; a++) {
        for (uint32_t b = a + 1; b < rank; b++) {
            bool is_folded = axes[perm[a]].dim == axes[perm[b]].dim;
            if (is_folded && perm[a] > perm[b] && axes[perm[a]].extent != 1 && axes[perm[b]].extent != 1) {
                return false;
            }
        }
    }
    return true;
}

/* The axes of the input in the order in which the output counts them. */
static bool source_axes(const Builder *builder, const Node *node, const Tensor *source, ViewAxis axes[SHAPE_MAX_RANK]) {
    uint32_t perm[SHAPE_MAX_RANK];
    ViewAxis own[SHAPE_MAX_RANK];
    tensor_axes(source, own);
    if (op_info(node->op)->kind != KIND_TRANSPOSE) {
        for (uint32_t k = 0; k < source->shape->rank; k++) {
            axes[k] = own[k];
        }
        return true;
    }
    if (!node_permutation(builder->plan->graph, node, &builder->work->scratch, perm) ||
        !keeps_folds(own, perm, source->shape->rank)) {
        return false;
    }
    for (uint32_t k = 0; k < source->shape->rank; k++) {
        axes[k] = own[perm[k]];
    }
    return true;
}

static bool same_elements_rule(Builder *builder, const Node *node, const Value *source, const Value *output,
                               ViewRule *rule) {
    View a, b;
    Tensor from, to;
    ViewAxis a_axes[SHAPE_MAX_RANK], b_axes[SHAPE_MAX_RANK];
    if (!view_of_value(builder, source, &a, &from) || !view_of_value(builder, output, &b, &to)) {
        return false;
    }
    tensor_axes(&to, b_axes);
    rule->reason = ALIAS_VIEW;
    rule->is_rule =
        from.bits == to.bits && b.bank_bytes <= a.bank_bytes && source_axes(builder, node, &from, a_axes) &&
        view_same_map(&(ViewOrder){&a, a_axes, from.shape->rank}, &(ViewOrder){&b, b_axes, to.shape->rank}, WALK_LIMIT);
    bool is_transpose = op_info(node->op)->kind == KIND_TRANSPOSE;
    rule->refusal = rule->is_rule                 ? REFUSED_NONE
                    : b.bank_bytes > a.bank_bytes ? REFUSED_SMALLER
                    : is_transpose                ? REFUSED_ELEMENT_ORDER
                                                  : REFUSED_LAYOUT;
    return true;
}

/* ---- Slice, Split, Concat: a part inside a whole */

/* Index of the part's first element in the whole, by dimension. False where the part's axes do not stay one range of a
 * folded dimension. */
static bool box_index(const Value *whole, const Box *box, uint64_t index[DIM_COUNT]) {
    uint64_t inner[DIM_COUNT];
    for (uint32_t d = 0; d < DIM_COUNT; d++) {
        index[d] = 0;
        inner[d] = 1;
    }
    for (uint32_t k = whole->shape.rank; k-- > 0;) {
        uint8_t d = whole->dims[k];
        bool is_cut = box->extent.dim[k] != whole->shape.dim[k];
        index[d] += (uint64_t)box->begin[k] * inner[d];
        inner[d] *= (uint64_t)whole->shape.dim[k];
        for (uint32_t outer = 0; is_cut && outer < k; outer++) {
            if (whole->dims[outer] == d && whole->shape.dim[outer] != 1) {
                return false;
            }
        }
    }
    return true;
}

static bool same_place(const View *whole, const View *part, ViewAddress begin, const uint64_t whole_index[DIM_COUNT],
                       const uint64_t part_index[DIM_COUNT]) {
    ViewAddress at = view_address(whole, whole_index);
    ViewAddress own = view_address(part, part_index);
    return at.bank == own.bank && at.bit == own.bit && at.byte == begin.byte + own.byte;
}

/* Is the dimension one digit of one stride in both? Then they agree wherever the part begins. */
static bool is_linear_along(const View *whole, const View *part, uint32_t dim) {
    const View *side[] = {whole, part};
    const ViewLevel *only[2] = {NULL, NULL};
    for (uint32_t i = 0; i < 2; i++) {
        for (uint32_t k = 0; k < side[i]->level_count; k++) {
            if ((uint32_t)side[i]->level[k].dim != dim) {
                continue;
            }
            if (only[i] != NULL) {
                return false;
            }
            only[i] = &side[i]->level[k];
        }
    }
    return only[0] != NULL && only[1] != NULL && only[0]->div == 1 && only[1]->div == 1 && only[0]->mod == 0 &&
           only[1]->mod == 0 && only[0]->stride_bits == only[1]->stride_bits;
}

static bool same_along(const View *whole, const View *part, const uint64_t begin[DIM_COUNT], ViewAddress start,
                       uint32_t dim) {
    uint64_t own[DIM_COUNT] = {0};
    uint64_t at[DIM_COUNT];
    for (uint32_t d = 0; d < DIM_COUNT; d++) {
        at[d] = begin[d];
    }
    if (part->shape.extent[dim] > WALK_LIMIT) {
        return is_linear_along(whole, part, dim);
    }
    for (uint64_t i = 0; i < part->shape.extent[dim]; i++) {
        own[dim] = i;
        at[dim] = begin[dim] + i;
        if (!same_place(whole, part, start, at, own)) {
            return false;
        }
    }
    return true;
}

/* Does `part` lie in `whole` at the box exactly as it lies alone? Then its first byte there. */
static bool part_offset(Builder *builder, const Value *whole, const Value *part, const Box *box, uint64_t *offset) {
    View outer, inner;
    uint64_t begin[DIM_COUNT];
    Value boxed = *whole; /* the part under the names of the whole's axes, also where a slice drops an axis */
    boxed.shape = box->extent;
    const Device *device = builder->plan->device;
    const Tensor of_whole = tensor_of_value(whole, ROLE_ACTIVATION), of_part = tensor_of_value(&boxed, ROLE_ACTIVATION);
    if (!tensor_find_view(device, &of_whole, &outer) || !tensor_find_view(device, &of_part, &inner) ||
        of_whole.bits != dtype_bits(part->dtype) || inner.banks_used == 0 || !box_index(whole, box, begin)) {
        return false;
    }
    ViewAddress start = view_address(&outer, begin);
    for (uint32_t d = 0; d < DIM_COUNT; d++) {
        if (!same_along(&outer, &inner, begin, start, d)) {
            return false;
        }
    }
    uint64_t unit = device->memory[device->local].align_bytes;
    *offset = start.byte;
    return start.bank == 0 && start.bit == 0 && start.byte % unit == 0 && start.byte % inner.base_bytes == 0 &&
           start.byte % declared_part_align_bytes(builder->plan) == 0 && inner.bank_bytes <= outer.bank_bytes &&
           start.byte <= outer.bank_bytes - inner.bank_bytes;
}

/* A slice that drops axes is laid out as its own shape says: it must agree with the box it was cut from. */
static bool same_as_box(const Builder *builder, const Value *whole, const Value *part, const Box *box) {
    Value boxed = *whole;
    boxed.shape = box->extent;
    const Tensor from = tensor_of_value(&boxed, ROLE_ACTIVATION), to = tensor_of_value(part, ROLE_ACTIVATION);
    const Device *device = builder->plan->device;
    uint64_t from_bytes, to_bytes;
    return tensor_bytes(device, &from, &from_bytes) && tensor_bytes(device, &to, &to_bytes) && to_bytes <= from_bytes &&
           tensor_same_map(device, &from, &to);
}

static void slice_rule(Builder *builder, const Node *node, uint32_t k, const Value *source, const Value *output,
                       ViewRule *rule) {
    Box box;
    rule->reason = ALIAS_SPLIT;
    rule->is_rule = node_slice_box(builder->plan->graph, node, k, &builder->work->scratch, &box) &&
                    part_offset(builder, source, output, &box, &rule->offset_bytes) &&
                    same_as_box(builder, source, output, &box);
    rule->refusal = rule->is_rule ? REFUSED_NONE : REFUSED_LAYOUT;
}

/* ---- Expand: read with a stride of 0 by operators that broadcast */

static bool repeats_only(const Shape *source, const Shape *output) {
    for (uint32_t k = 0; k < source->rank; k++) {
        int64_t wide = output->dim[output->rank - source->rank + k];
        if (source->dim[k] != wide && source->dim[k] != 1) {
            return false;
        }
    }
    return true;
}

static bool readers_broadcast(const Builder *builder, ValueId id) {
    const GraphUses *uses = &builder->uses;
    for (uint32_t u = uses->first[id.index]; u < uses->first[id.index + 1]; u++) {
        if (op_info(graph_node(builder->plan->graph, uses->use[u])->op)->kind != KIND_BROADCAST) {
            return false;
        }
    }
    return true;
}

static void expand_rule(Builder *builder, const Node *node, const Value *source, const Value *output, ViewRule *rule) {
    rule->reason = ALIAS_VIEW;
    rule->is_rule = node->op != OP_BROADCAST_IN_DIM && source->shape.rank <= output->shape.rank &&
                    repeats_only(&source->shape, &output->shape) && !output->is_output &&
                    readers_broadcast(builder, node->outputs[0]);
    rule->refusal = rule->is_rule ? REFUSED_NONE : REFUSED_BROADCAST;
}

/* ---- All of them */

static void refuse(ViewRule *rule, AliasRefusal refusal) {
    rule->is_rule = false;
    rule->refusal = refusal;
}

/* The storage a value of an arena lies in, is it a graph input's own memory, or does it hold that? */
static bool lies_in_input(const Builder *builder, ValueId id) {
    const Plan *plan = builder->plan;
    BufferId buffer = plan->of_value[id.index];
    if (plan->device->kind != DEVICE_ARENA || !is_buffer(buffer)) {
        return false;
    }
    const Buffer *root = plan_buffer(plan, find_storage(builder->plan, buffer));
    return root->kind == BUFFER_INPUT || root->holds_input;
}

bool view_rule(Builder *builder, NodeId node_id, uint32_t k, ViewRule *rule) {
    const Graph *graph = builder->plan->graph;
    const Node *node = graph_node(graph, node_id);
    OpKind kind = op_info(node->op)->kind;
    uint32_t data = node_data_input(node);
    const Value *source = node_input(graph, node, data);
    const Value *output = node_output(graph, node, k);
    *rule = (ViewRule){.is_rule = false};
    bool is_same = (kind == KIND_RESHAPE || kind == KIND_TRANSPOSE) && k == 0;
    bool is_part = kind == KIND_SLICE && builder->plan->choice.sub_views;
    if (source == NULL || output == NULL || (!is_same && !is_part && kind != KIND_EXPAND)) {
        return true;
    }
    rule->source = node->inputs[data];
    if (is_same && !same_elements_rule(builder, node, source, output, rule)) {
        return false;
    }
    if (is_part) {
        slice_rule(builder, node, k, source, output, rule);
    } else if (kind == KIND_EXPAND) {
        expand_rule(builder, node, source, output, rule);
    }
    if (source->constant != NULL) {
        refuse(rule, REFUSED_CONSTANT);
    } else if (source->is_state) {
        refuse(rule, REFUSED_STATE);
    } else if (rule->is_rule && output->is_output && lies_in_input(builder, rule->source)) {
        refuse(rule, REFUSED_GRAPH_OUTPUT); /* the caller's input and output are two pointers */
    }
    return true;
}

bool concat_part(Builder *builder, NodeId node_id, uint32_t input, uint64_t *offset_bytes, AliasRefusal *refusal) {
    const Graph *graph = builder->plan->graph;
    const Node *node = graph_node(graph, node_id);
    Box box;
    const Value *part = node_input(graph, node, input);
    bool fits = node_concat_box(graph, node, input, &box) &&
                part_offset(builder, node_output(graph, node, 0), part, &box, offset_bytes);
    *refusal = fits ? REFUSED_NONE : REFUSED_LAYOUT;
    return fits;
}
