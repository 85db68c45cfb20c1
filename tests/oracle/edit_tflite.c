/* edit_tflite MODEL OUT SEED: edits a TFLite file at random, for emit_tflite.py. Writes the result to OUT, and says on
 * standard output as JSON what was asked for; ids are tensors of the main subgraph, those of new ones come last. */
#include "emit/emit.h"
#include "emit/tflite_edit.h"
#include "import/import.h"

#include <inttypes.h>
#include <stdlib.h>

static void print_ids(const char *key, const ValueId *ids, uint32_t count) {
    printf(", \"%s\": [", key);
    for (uint32_t k = 0; k < count; k++) {
        printf("%s%" PRId64, k > 0 ? "," : "", is_value(ids[k]) ? (int64_t)ids[k].index : -1);
    }
    printf("]");
}

static void print_quant(const Quant *quant) {
    printf("{\"scale\": [");
    for (uint32_t k = 0; k < quant->count; k++) {
        printf("%s%.9g", k > 0 ? "," : "", (double)quant->scale[k]);
    }
    printf("], \"zero_point\": [");
    for (uint32_t k = 0; k < quant->count; k++) {
        printf("%s%" PRId64, k > 0 ? "," : "", quant->zero_point == NULL ? 0 : quant->zero_point[k]);
    }
    printf("], \"axis\": %d}", quant->axis > 0 ? (int)quant->axis : 0);
}

static void print_new(const ModelEdit *edit, uint32_t added) {
    const Node *node = graph_node(edit->graph, edit->added_nodes[added].id);
    printf("{\"builtin\": %d, \"version\": %d", (int)op_info(node->op)->tflite, (int)node->version);
    print_ids("inputs", node->inputs, node->input_count);
    print_ids("outputs", node->outputs, node->output_count);
    printf("}, ");
}

static void print_nodes(const ModelEdit *edit) {
    uint32_t added = 0;
    printf("\"nodes\": [");
    for (uint32_t k = 0; k <= edit->file_node_count; k++) {
        for (; added < edit->added_node_count && edit->added_nodes[added].before == k; added++) {
            print_new(edit, added);
        }
        if (k < edit->file_node_count && edit->fates[k] != NODE_DROPPED) {
            const Node *node = graph_node(edit->graph, edit->file_nodes[k]);
            printf("{\"file\": %" PRIu32, k);
            if (edit->fates[k] == NODE_REWIRED) {
                print_ids("inputs", node->inputs, node->input_count);
                print_ids("outputs", node->outputs, node->output_count);
            }
            printf("}, ");
        }
    }
    printf("null],\n");
}

static void print_value(const Value *value, uint32_t id) {
    printf("{\"id\": %" PRIu32 ", \"name\": \"" STR_FMT "\", \"dtype\": \"%s\", \"shape\": [", id, STR_ARG(value->name),
           dtype_name(value->dtype));
    for (uint32_t k = 0; k < value->shape.rank; k++) {
        printf("%s%" PRId64, k > 0 ? "," : "", value->shape.dim[k]);
    }
    printf("], \"data\": [");
    for (size_t k = 0; value->constant != NULL && k < value->constant->bytes.len; k++) {
        printf("%s%d", k > 0 ? "," : "", value->constant->bytes.ptr[k]);
    }
    printf("], \"quant\": ");
    if (value->quant != NULL) {
        print_quant(value->quant);
    } else {
        printf("null");
    }
    printf("}, ");
}

static void print_values(const ModelEdit *edit) {
    printf("\"file_values\": %" PRIu32 ", \"added\": [", edit->file_value_count);
    for (uint32_t k = 0; k < edit->added_value_count; k++) {
        print_value(graph_value(edit->graph, edit->added_values[k]), edit->added_values[k].index);
    }
    printf("null],\n\"dropped\": [");
    for (uint32_t v = 0; v < edit->file_value_count; v++) {
        if (edit->is_dropped[v]) {
            printf("%" PRIu32 ", ", v);
        }
    }
    printf("null],\n\"requantised\": [");
    for (uint32_t v = 0; v < edit->file_value_count; v++) {
        if (edit->is_requantised[v]) {
            printf("{\"id\": %" PRIu32 ", \"quant\": ", v);
            print_quant(edit->graph->values[v].quant);
            printf("}, ");
        }
    }
    printf("null]");
}

static bool write_file(const char *path, Span bytes) {
    FILE *file = fopen(path, "wb");
    bool written = file != NULL && fwrite(bytes.ptr, 1, bytes.len, file) == bytes.len;
    return file != NULL && fclose(file) == 0 && written;
}

int main(int count, char **arguments) {
    static Work work;
    static Draft draft;
    FileMap map = {0};
    Span out;
    uint64_t seed = count == 4 ? (uint64_t)atoi(arguments[3]) : 0;
    work_init(&work, &system_allocator);
    if (seed == 0 || setjmp(work.escape) || !file_map(&map, arguments[1], &work.diags)) {
        return 2;
    }
    Graph *graph = import_tflite(&work, map.bytes, arguments[1], NULL);
    if (graph != NULL) {
        draft_init(&draft, &work, graph);
    }
    if (graph == NULL || !emit_tflite(draft_random(&draft, &seed), map.bytes, &work, &out) ||
        !write_file(arguments[2], out)) {
        diags_print(&work.diags, "edit_tflite", stderr);
        return 1;
    }
    printf("{");
    print_nodes(&draft.edit);
    print_values(&draft.edit);
    printf("}\n");
    file_unmap(&map);
    work_free(&work);
    return 0;
}
