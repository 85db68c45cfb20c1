/* `stride0 inspect --names`: the names that other options take, each whole and as it is typed.
 *
 * A name stands last on its line, for it may be as long as its model likes; what says why is clipped. */
#include "cli/inspect.h"

#include "base/clean.h"
#include "report/text.h"

enum { INDENT = 2, WHY_CHARACTERS = 40 };

/* The axis that is called C, -1 where none or more than one is. */
static int channel_axis(const char *axes) {
    int found = -1;
    for (int k = 0; axes[k] != '\0'; k++) {
        if (axes[k] != 'C') {
            continue;
        }
        if (found >= 0) {
            return -1;
        }
        found = k;
    }
    return found;
}

/* The graph that a plan is made of, as far as it is known. */
static const Graph *named_graph(const InspectFacts *facts) {
    return facts->complete == NULL ? facts->graph : facts->complete;
}

static const char *why_channel(const InspectFacts *facts, const Value *value) {
    const Graph *graph = named_graph(facts);
    Arena *arena = facts->arena;
    const char *who = "";
    switch (value->channel_source) {
    case CHANNEL_BY_DEFAULT:
        return graph->channels_last ? "TFLite's default" : "default";
    case CHANNEL_BY_LAYOUT:
        return "--layout";
    case CHANNEL_BY_NODE:
        break;
    case CHANNEL_BY_READER:
        who = "its reader ";
        break;
    }
    Str title = clean_text(arena, node_title(arena, graph_node(graph, value->channel_node)));
    return arena_text(arena, "%s" STR_FMT, who, STR_ARG(text_clip(arena, title, WHY_CHARACTERS)));
}

static const char *kind_of(const Value *value) {
    return value->is_input            ? "input"
           : value->is_output         ? "output"
           : value->is_state          ? "state"
           : value->constant != NULL  ? "constant"
           : is_node(value->producer) ? "result"
                                      : "-";
}

static void add_tensor(Table *table, const InspectFacts *facts, ValueId id) {
    const Value *value = cli_inspect_value(facts, id);
    const char *axes = cli_inspect_axes(facts, id);
    int channel = channel_axis(axes);
    table_text(table, kind_of(value));
    table_text(table, value->dtype == DTYPE_NONE ? "-" : dtype_name(value->dtype));
    table_text(table, cli_inspect_shape(facts->arena, value));
    table_text(table, axes[0] == '\0' ? "-" : axes);
    table_text(table, channel < 0 ? "-" : arena_text(facts->arena, "%d", channel));
    table_text(table, channel < 0 ? "-" : why_channel(facts, value));
    table_add(table, value->name);
}

static void print_tensors(const InspectFacts *facts, FILE *out) {
    static const char *const heads[] = {"kind", "dtype", "shape", "axes", "channel", "because of", "name"};
    const Graph *graph = named_graph(facts);
    Table table;
    table_init(&table, facts->arena, "ssssrss");
    table_head(&table, heads);
    for (uint32_t v = 0; v < graph->value_count; v++) {
        add_tensor(&table, facts, (ValueId){v});
    }
    fputs("\ntensors: for --layout, --axis and --buffer\n", out);
    table_print(&table, INDENT, UINT32_MAX, out);
}

static void print_nodes(const InspectFacts *facts, FILE *out) {
    static const char *const heads[] = {"operator", "name"};
    const Graph *graph = named_graph(facts);
    Table table;
    table_init(&table, facts->arena, "ss");
    table_head(&table, heads);
    for (uint32_t b = 0; b < graph->block_count; b++) {
        for (uint32_t i = 0; i < graph->blocks[b].node_count; i++) {
            const Node *node = graph_node(graph, graph->blocks[b].nodes[i]);
            table_add(&table, node->op_name);
            table_add(&table, node->name);
        }
    }
    fputs("\noperators: for --node\n", out);
    table_print(&table, INDENT, UINT32_MAX, out);
}

static bool print_dim(const Value *value, uint32_t axis, FILE *out) {
    Str name = value->dim_name == NULL ? (Str){NULL, 0} : value->dim_name[axis];
    if (name.len == 0 && value->shape.dim[axis] != DIM_FREE) {
        return false;
    }
    fputs("  ", out);
    if (name.len > 0) {
        clean_print(name, out);
        fputs(", or ", out);
    }
    clean_print(value->name, out);
    fprintf(out, ":%u\n", axis);
    return true;
}

/* The graph as the file states it: what the user has bound is bound in the other. */
static void print_dims(const InspectFacts *facts, FILE *out) {
    const Block *block = graph_main(facts->graph);
    fputs("\nfree dimensions: for --dim\n", out);
    bool has_any = false;
    for (uint32_t i = 0; i < block->input_count; i++) {
        const Value *value = graph_value(facts->graph, block->inputs[i]);
        for (uint32_t axis = 0; value->has_shape && axis < value->shape.rank; axis++) {
            has_any = print_dim(value, axis, out) || has_any;
        }
    }
    fputs(has_any ? "" : "  none\n", out);
}

void cli_inspect_print_names(FILE *out, const InspectFacts *facts) {
    cli_inspect_print_model(out, facts);
    print_tensors(facts, out);
    print_nodes(facts, out);
    print_dims(facts, out);
}
