/* What the stages of planning share while a plan is built: first what they work on, then file by file what each does
 * for the others. Private to the room. */
#ifndef S0_PLAN_BUILDER_H
#define S0_PLAN_BUILDER_H

#include "plan/operand.h"
#include "plan/tensor.h"

/* How a node's output shares its input's bytes without a step, or why it can't. */
typedef struct {
    bool is_rule; /* false: the node copies */
    ValueId source;
    uint64_t offset_bytes; /* from the start of the source */
    AliasReason reason;
    AliasRefusal refusal; /* why it is no rule; REFUSED_NONE where the node is no candidate */
} ViewRule;

/* What a plan that does not fit may do without. */
typedef struct {
    bool *is_far;      /* value: it lies in far memory, and operators load and store parts of it */
    bool *in_tiles;    /* node: it goes tile by tile, whatever it reads and writes */
    FarReason *why;    /* value: why it is far */
    bool *stays;       /* value: an operator can't do with parts of it */
    NodeId *whole_for; /* value: for which operator it stays; NO_NODE */
    bool has_erred;    /* a value is far that has to stay: the plan is to be made again */
} Relief;

typedef struct {
    Plan *plan;
    Work *work;
    GraphUses uses;
    Relief *relief;           /* null: none */
    const Plan *before;       /* a plan of the same, with other concessions; null */
    const uint32_t *sweep_at; /* node -> its sweep in `before`; UINT32_MAX */
    const uint64_t *budgets;  /* of each sweep, by its first node, in local memory; null: all of it */
    BufferId *resident;       /* constant -> its newest local copy; NO_BUFFER */
    uint32_t *resident_group; /* constant -> the group of nodes that copy was loaded for */
} Builder;

/* Does the value lie in far memory, from where each operator loads what it needs of it? */
static inline bool value_is_far(const Builder *builder, ValueId id) {
    return builder->relief != NULL && builder->relief->is_far[id.index];
}

/* A growing list of buffer ids. */
typedef struct {
    uint32_t count;
    size_t capacity;
    BufferId *ids;
} IdList;

/* ---- lower.c: buffers */

BufferId add_buffer(Builder *builder, Buffer buffer);

/* The local copy of the constant input `k`, whole, as a record that is not in the plan: as it is stored, and in the
 * form that the node reads. `backing` is its buffer in flash or far memory. */
bool lower_copy(Builder *builder, NodeId node, uint32_t k, BufferId *backing, Buffer *stored, Buffer *read);

/* The local buffer of a value that is no constant; made at the first call. NO_BUFFER where it has no bytes (resource
 * handles). False in `ok` with a diagnostic. */
bool lower_value(Builder *builder, ValueId id, BufferId *buffer);

/* The buffer in flash or far memory of an input or an output, or of a constant that is one; made at the first call. */
bool lower_backing(Builder *builder, ValueId id, BufferId *buffer);

typedef struct {
    BufferId buffer; /* what the node reads: in flash where an arena reads it in place, else a local copy */
    BufferId from;   /* in flash or far memory, where a load or fill step must make `loaded` first; else NO_BUFFER */
    BufferId loaded; /* `buffer`; or the copy as it is stored, of which the engine makes `buffer` */
    bool is_made;    /* the engine makes `buffer` before the node runs: of `loaded`, or of a number that is known */
} OperandRead;

/* Of the buffer of a parameter in far memory: is it a constant of one number? A form of it is filled, not copied. */
bool lower_is_number(const Plan *plan, BufferId far);

/* Is constant input `k` held in the records that stand for another one? Then it has no buffer for this node. */
bool lower_is_held(const Builder *builder, const Node *node, uint32_t k);

/* What `node` reads for its constant input `k`. */
bool lower_operand(Builder *builder, NodeId node, uint32_t k, uint32_t group, OperandRead *read);

/* ---- forms.c: of the parameters of operators that work element by element */

typedef struct {
    Form form;          /* FORM_COUNT: as it is stored, which is none of the forms */
    const char *reason; /* why it is larger than what is stored; null where it is not */
} FormChoice;

/* The form that a local copy takes of `compact`, which is stored and sized as `operand` says. */
FormChoice form_choose(const Builder *builder, const Operand *operand, const Buffer *compact);

/* The form that the engine reads of a map that repeats along axes of the result: as it lies, where that is read; else
 * what of those that it reads takes the fewest bytes; without a reason where it reads none. `map` is to be laid out as
 * a parameter is. */
FormChoice form_of_map(const Builder *builder, const Operand *operand, const Buffer *map);

/* Makes `made`, as stored, a copy in `form`; the tensor to size it by. Some engines read an element only as a whole
 * block: a copy has one for each. */
Tensor form_store(const Builder *builder, const Operand *operand, Form form, Buffer *made);

/* Bytes that the engine reads an element of the parameter as, in the form it is stored in. */
uint64_t form_grain(const Builder *builder, const Buffer *stored);

/* In `keep`. */
FormCosts *form_costs(const Builder *builder, const Operand *operand, const Buffer *compact);

/* ---- views.c: rules */

bool view_rule(Builder *builder, NodeId node, uint32_t output, ViewRule *rule);
bool concat_part(Builder *builder, NodeId node, uint32_t input, uint64_t *offset_bytes, AliasRefusal *refusal);

/* ---- concat.c */

/* True where the concat `id` is a rule: each input now leads to the output. `ok` is false where a size was refused. */
bool concat_in_place(Builder *builder, NodeId id, bool *ok);

/* ---- groups.c */

/* Nodes that run on a scratchpad with one load before and one store behind. */
typedef struct {
    uint32_t first, last; /* positions in the main block, half-open */
    uint32_t number;
} Group;

/* Emits all steps, in the order of the file; joins the views. */
bool build_steps(Builder *builder);

/* ---- steps.c */

/* Once: it is looked for among the first few, so that an operator of very many inputs costs no more than they are, and
 * may list one twice. */
void list_add(IdList *list, BufferId id, Arena *arena);

/* Also where it stands there: one end of a move, whose other end stands at the same place of another list. */
void list_append(IdList *list, BufferId id, Arena *arena);

/* The step that was added; valid until the next. */
Step *emit_step(Builder *builder, NodeId node, Column column, const IdList *reads, const IdList *writes);

Column column_of(const Node *node);

/* Every node of the group with whole tensors: loads first, then the nodes with their stores. */
bool build_whole(Builder *builder, Group group);

/* Of a scratchpad: a graph input into local memory, whole, where it is not there yet; an output from there, if it is a
 * graph output. As steps of `node`. False with a diagnostic. */
bool load_whole(Builder *builder, NodeId node, ValueId id);
bool store_whole(Builder *builder, NodeId node, ValueId id);

/* A constant that only tells the planner something, and what another constant of the node stands for. */
bool is_configuration(const Builder *builder, const Node *node, uint32_t k);
void count_configuration(Builder *builder, ValueId id);

/* ---- sweep_build.c: a run of per-channel operators, tile by tile */

/* May the nodes be a sweep: is each a per-channel operator whose arithmetic is known? `nodes` are of one group, none is
 * constant. */
bool sweep_is_possible(const Builder *builder, const NodeId *nodes, uint32_t count);

/* Buffers and steps of the sweep. False with a diagnostic. `is_sweep` false, and nothing built, where no tile can be.
 */
bool build_sweep(Builder *builder, const NodeId *nodes, uint32_t count, bool *is_sweep);

/* ---- sweep_operator.c: any one operator, tile by tile */

/* needs   operator_takes_parts
 * As build_sweep. */
bool build_operator(Builder *builder, NodeId node, bool *is_sweep);

/* ---- sweep_steps.c */

/* Own ranges of what sweeps hold longer than their steps tell. */
void extend_sweeps(Plan *plan);

/* ---- live.c */

/* Own ranges of buffers, from the steps that read and write them. */
void build_ranges(Builder *builder);

/* The storage `id` lies in, as far as buffers are joined; shortens the way for the next question. */
BufferId find_storage(Plan *plan, BufferId id);

/* Gathers buffers that are joined into storages with the hull of their ranges. */
void build_storages(Builder *builder);

/* Live bytes of every step, peak, totals by kind. False where a sum does not fit 64 bits. */
bool build_totals(Builder *builder);

/* The same of a plan whose sums fit. */
void plan_sum(Plan *plan, Arena *scratch);

/* ---- in_place.c */

/* In step order: lets outputs of element-wise operators write over an input that dies there. */
void build_in_place(Plan *plan);

/* What the step writes, if the operator may write it over what it reads, whatever else is alive then; NO_BUFFER. */
BufferId overwriting_output(const Plan *plan, uint32_t step);

/* Of such a step: may `input` be what is written over, where nothing needs it later? */
bool may_overwrite(const Plan *plan, uint32_t step, BufferId input);

/* Of a search for offsets, where a rule of thumb leaves a gap: milliseconds. A plan is made of several drafts. */
enum { PLACE_MOST_NODES = 4000 };

/* ---- placement.c: offsets; false with a diagnostic where a sum does not fit 64 bits */

bool place_local(Plan *plan, Work *work);
bool place_backing(Plan *plan, Work *work);

/* Of buffers whose storages have offsets. */
void place_aliases(Plan *plan, Arena *scratch);

/* ---- overflow.c: into further memories of the device, where they have the room or cost less; else nothing changes */

void overflow_local(Plan *plan, Work *work);
void overflow_backing(Plan *plan, Work *work);

/* Of a plan that fits in neither `first`, local memory or what lies behind it, nor with its overflow: lack[m] is what
 * memory m would have to be larger, so that it does; UINT64_MAX where no size is known to be enough. */
void overflow_lack(const Plan *plan, uint32_t first, uint64_t lack[DEVICE_MAX_MEMORIES], Work *work);

/* ---- sweep_budget.c */

/* Of a plan that does not fit: lowers what each of its sweeps may take to what others leave it. False where that
 * changes nothing. */
bool tighten_sweeps(const Plan *plan, uint64_t *budgets);

/* ---- relief.c */

/* The reasons live in `keep`, all else in `scratch`. */
Relief *relief_new(const Graph *graph, Work *work);

/* Of a plan that does not fit: sends maps to far memory, and has operators go tile by tile, so that each step may fit.
 * False where that changes nothing. */
bool relieve(const Plan *plan, const GraphUses *uses, Relief *relief, Arena *scratch);

/* ---- plan.c */

/* What is to be planned. */
typedef struct {
    const Graph *graph;
    const Device *device;
    const PlanOptions *options;
    const NodeCommand *const *command; /* see Plan */
} PlanTask;

/* The best plan that there is, without remedies. Null with diagnostics. */
Plan *plan_best(const PlanTask *task, Work *work);

/* The same in another order of the operators, where that is better than `plan`; else `plan`. */
Plan *plan_in_best_order(const PlanTask *task, Plan *plan, Work *work);

/* ---- remedies.c */

void find_remedies(Plan *plan, Work *work);

#endif
