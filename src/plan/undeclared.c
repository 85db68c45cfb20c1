/* Warnings where a device file and a model don't meet: custom operators that no section declares, and, where there are
 * some, sections that declare none of the model's: a section may stand there for another network. */
#include "base/nearest.h"
#include "plan/declared.h"

#include <inttypes.h>

enum { MOST_LISTED = 6 };

/* As a section calls it. */
typedef struct {
    Str name;
    uint64_t count;
} CustomName;

typedef struct {
    const Plan *plan;
    CustomName *names;
    uint32_t name_count;
    uint64_t node_count;
} Undeclared;

static void count_node(Undeclared *found, const Node *node) {
    Str name = device_bare_operator(node->op_name);
    if (op_info(node->op)->kind != KIND_OPAQUE || declared_operator(found->plan, node) != NULL) {
        return;
    }
    uint32_t at = 0;
    while (at < found->name_count && !str_eq(found->names[at].name, name)) {
        at++;
    }
    found->name_count += at == found->name_count;
    found->names[at].name = name;
    found->names[at].count++;
    found->node_count++;
}

static Undeclared find_undeclared(const Plan *plan, Arena *scratch) {
    const Block *block = graph_main(plan->graph);
    Undeclared found = {.plan = plan, .names = arena_array(scratch, CustomName, block->node_count)};
    for (uint32_t k = 0; k < block->node_count; k++) {
        count_node(&found, graph_node(plan->graph, block->nodes[k]));
    }
    return found;
}

/* "SignalRfft, SignalPcan (3), and 2 more names" */
static const char *list_names(const Undeclared *found, Arena *arena) {
    const char *list = "";
    for (uint32_t k = 0; k < found->name_count && k < MOST_LISTED; k++) {
        const CustomName *name = &found->names[k];
        list = arena_text(arena, "%s%s" STR_FMT, list, k == 0 ? "" : ", ", STR_ARG(name->name));
        list = name->count == 1 ? list : arena_text(arena, "%s (%" PRIu64 ")", list, name->count);
    }
    uint32_t rest = found->name_count < MOST_LISTED ? 0 : found->name_count - MOST_LISTED;
    return rest == 0 ? list : arena_text(arena, "%s, and %" PRIu32 " more name%s", list, rest, rest == 1 ? "" : "s");
}

static void warn_undeclared(const Undeclared *found, Work *work) {
    Arena *arena = &work->keep;
    const Device *device = found->plan->device;
    const char *begin = device_path(device) == NULL
                            ? arena_text(arena, "begin a file with `stride0 devices " STR_FMT " --ini`, add to it",
                                         STR_ARG(device->name))
                            : arena_text(arena, "add to " STR_FMT, STR_ARG(device->file));
    const char *what =
        arena_text(arena,
                   "the workspace of %" PRIu64 " custom operator%s is unknown and counts as 0 bytes; the "
                   "device file does not declare %s",
                   found->node_count, found->node_count == 1 ? "" : "s", list_names(found, arena));
    diag_warn(&work->diags,
              (DiagText){.what = what,
                         .hint = arena_text(arena, "%s a section [operator " STR_FMT "] with its workspace", begin,
                                            STR_ARG(found->names[0].name))});
}

static bool has_custom(const Graph *graph, const DeviceOperator *declared) {
    for (uint32_t k = 0; k < graph->node_count; k++) {
        const Node *node = &graph->nodes[k];
        if (op_info(node->op)->kind == KIND_OPAQUE && str_eq(device_bare_operator(node->op_name), declared->name)) {
            return true;
        }
    }
    return false;
}

static void warn_unmatched(const Undeclared *found, const DeviceOperator *declared, Work *work) {
    Arena *arena = &work->keep;
    Nearest nearest = {.typed = declared->name};
    for (uint32_t k = 0; k < found->name_count; k++) {
        nearest_offer(&nearest, found->names[k].name);
    }
    const char *otherwise = arena_text(arena, "of the model's, no section declares %s", list_names(found, arena));
    diag_warn(&work->diags, (DiagText){.what = arena_text(arena,
                                                          "the section [operator " STR_FMT "] of " STR_FMT
                                                          " declares no custom operator of the model",
                                                          STR_ARG(declared->name), STR_ARG(found->plan->device->file)),
                                       .hint = nearest_hint(arena, &nearest, otherwise)});
}

void plan_warn_of_custom(const Plan *plan, Work *work) {
    const Undeclared found = find_undeclared(plan, &work->scratch);
    if (found.node_count == 0) {
        return;
    }
    warn_undeclared(&found, work);
    for (uint32_t k = 0; k < plan->device->operator_count; k++) {
        if (!has_custom(plan->graph, &plan->device->operators[k])) {
            warn_unmatched(&found, &plan->device->operators[k], work);
        }
    }
}
