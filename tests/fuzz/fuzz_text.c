/* Fuzz target: any bytes as a graph in text form. What parses and is sound prints to a text that parses to the same
 * print. */
#include "graph/text.h"

#include "base/fault.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *printed(const Graph *graph, Work *work, size_t *length) {
    char *text = NULL;
    FILE *memory = open_memstream(&text, length);
    if (memory == NULL) {
        return NULL;
    }
    graph_print_text(graph, &work->scratch, memory);
    fclose(memory);
    return text;
}

static void check_round_trip(const uint8_t *data, size_t size, Work *work, char **first, char **second) {
    Graph *graph = graph_parse_text(work, (Span){data, size}, STR("fuzz"));
    if (graph == NULL || !graph_check(graph, work)) {
        return;
    }
    size_t first_length = 0, second_length = 0;
    *first = printed(graph, work, &first_length);
    Graph *again = graph_parse_text(work, (Span){(const uint8_t *)*first, first_length}, STR("fuzz"));
    CHECK(again != NULL);
    *second = printed(again, work, &second_length);
    CHECK(first_length == second_length && memcmp(*first, *second, first_length) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Work work;
    char *texts[2] = {NULL, NULL};
    work_init(&work, &system_allocator);
    if (setjmp(work.escape) == 0) {
        check_round_trip(data, size, &work, &texts[0], &texts[1]);
    }
    free(texts[0]);
    free(texts[1]);
    work_free(&work);
    return 0;
}
