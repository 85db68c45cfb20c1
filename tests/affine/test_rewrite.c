/* Proves that the main block lists added nodes where they were to go, dropped ones nowhere: against a list that each
 * change is made to at once, on random changes in rounds. */
#include "affine/simplified.h"

#include "affine/rewrite.h"
#include "support/random.h"

enum { FIRST = 12, ROUNDS = 20, CHANGES = 8, MOST = FIRST + ROUNDS * CHANGES };

/* The list as it is to be. */
typedef struct {
    NodeId node[MOST];
    uint32_t count;
} List;

static uint32_t find(const List *list, NodeId id) {
    uint32_t at = 0;
    while (list->node[at].index != id.index) {
        at++;
    }
    return at;
}

static void insert(List *list, NodeId id, NodeId before) {
    uint32_t at = find(list, before);
    memmove(&list->node[at + 1], &list->node[at], (list->count - at) * sizeof(NodeId));
    list->node[at] = id;
    list->count++;
}

static void take_out(List *list, NodeId id) {
    uint32_t at = find(list, id);
    list->count--;
    memmove(&list->node[at], &list->node[at + 1], (list->count - at) * sizeof(NodeId));
}

static Graph *make_chain(Work *work) {
    const char *text = "input x float32[1]\n";
    for (int k = 0; k < FIRST; k++) {
        text = arena_text(&work->keep, "%snode Relu n%d: x -> y%d\n", text, k, k);
    }
    return parse_sound(work, text);
}

static Rewriter make_rewriter(Graph *graph, const FileNote *note, Work *work) {
    Rewriter rw = {.graph = graph, .note = note, .work = work, .is_stale = true};
    rw.position = arena_array(&work->keep, uint32_t, FIRST);
    rw.fates = arena_array(&work->keep, NodeFate, FIRST);
    rw.is_gone = arena_array(&work->keep, bool, FIRST);
    rw.gone_by = arena_array(&work->keep, uint32_t, FIRST);
    rw.is_told = arena_array(&work->keep, bool, FIRST);
    rw.gone_capacity = rw.first_node_count = FIRST;
    for (uint32_t k = 0; k < FIRST; k++) {
        rw.position[k] = k;
    }
    rewrite_refresh(&rw);
    return rw;
}

static void change(Rewriter *rw, List *list, uint64_t *seed) {
    NodeId file_node = {(uint32_t)random_below(seed, FIRST)};
    NodeId listed = list->node[random_below(seed, list->count)];
    if (random_below(seed, 3) > 0 && !rw->is_gone[file_node.index]) {
        Node node = *graph_node(rw->graph, file_node);
        node.output_count = 0;
        insert(list, rewrite_add_node(rw, node, file_node), file_node);
    } else if (list->count > FIRST && (listed.index >= FIRST || random_below(seed, 8) == 0)) {
        rewrite_drop_node(rw, listed);
        take_out(list, listed);
    }
}

static void test_list(Work *work) {
    uint64_t seed = 3;
    Graph *graph = make_chain(work);
    const Block *main_block = graph_main(graph);
    FileNote note = simplify_note(graph, &work->keep);
    Rewriter rw = make_rewriter(graph, &note, work);
    List list = {.count = FIRST};
    memcpy(list.node, main_block->nodes, FIRST * sizeof(NodeId));
    for (int round = 0; round < ROUNDS; round++) {
        for (int k = 0; k < CHANGES; k++) {
            change(&rw, &list, &seed);
        }
        rewrite_refresh(&rw);
        assert_int_equal(main_block->node_count, list.count);
        assert_memory_equal(main_block->nodes, list.node, list.count * sizeof(NodeId));
    }
    assert_true(list.count > FIRST);
    for (uint32_t n = 0; n < graph->node_count; n++) {
        assert_true(rw.is_gone[n] || rewrite_may_change(&rw, (NodeId){n}));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WORK_TEST(test_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
