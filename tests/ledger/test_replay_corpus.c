/* Plans of real networks on the simulated device: every model that is found, for some of the presets, replayed byte by
 * byte.
 *
 * Proves that whatever is planned - tiles, views, concats in place, writes over what dies, local copies - finds its
 * bytes at each step, inside the bytes that were placed, all of which are needed to hold it there. Third-party models
 * come from S0_SHARED; without them the project's own examples are left. */
#include "graph/passes.h"
#include "import/import.h"
#include "ledger/replay.h"
#include "support/corpus.h"

static Corpus corpus;

/* Larger plans take long; each model is planned for some presets, one in three. */
enum { MOST_BYTES = 1 << 18, SOME = 3 };

static Plan *plan_model(const char *path, const Device *device, ModelFiles *files, Work *work) {
    const PlanOptions options = {.in_place = true};
    Graph *graph = import_model(work, path, files);
    bool is_whole = graph != NULL && graph_check(graph, work) && graph_inline(graph, work) &&
                    graph_bind_dims(graph, NULL, 0, work) && graph_infer(graph, work) &&
                    graph_assign_names(graph, NULL, 0, work) && graph_fold_qdq(graph, work);
    return is_whole ? plan_make(graph, device, &options, work) : NULL;
}

static bool replay_model(const char *path, const char *preset) {
    Work work;
    ModelFiles files = {0};
    WORK_BEGIN(&work);
    const Device *device = device_load(&work, str_from(preset));
    Plan *plan = plan_model(path, device, &files, &work);
    bool is_run = plan != NULL && plan->placed_bytes > 0 && plan->placed_bytes <= MOST_BYTES;
    if (is_run) {
        const char *what = arena_text(&work.keep, "%s on %s", path, preset);
        Replay replay = replay_of(plan, &work);
        assert_int_equal(replay_placed(&replay), plan->placed_bytes);
        replay_must_run(what, &replay, &work);
    }
    import_close(&files);
    work_free(&work);
    return is_run;
}

static void test_models(void **state) {
    (void)state;
    size_t count = 0;
    for (size_t p = 0; p < device_preset_count; p++) {
        size_t before = count;
        for (size_t k = p % SOME; k < corpus.count; k += SOME) {
            count += replay_model(corpus.path[k], device_presets[p].name);
        }
        print_message("%s: %zu of %zu models\n", device_presets[p].name, count - before, corpus.count);
    }
    assert_true(count > 0);
}

static int find_files(void **state) {
    (void)state;
    corpus_add(&corpus, S0_SOURCE_DIR "/examples", ".tflite");
    corpus_add(&corpus, S0_SOURCE_DIR "/examples", ".onnx");
    if (S0_SHARED_DIR[0] != '\0') {
        corpus_add(&corpus, S0_SHARED_DIR "/models", ".tflite");
        corpus_add(&corpus, S0_SHARED_DIR "/models", ".onnx");
    }
    return 0;
}

static int forget_files(void **state) {
    (void)state;
    corpus_free(&corpus);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_models)};
    return cmocka_run_group_tests(tests, find_files, forget_files);
}
