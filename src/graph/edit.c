/* Names that nothing has yet. */
#include "graph/edit.h"

#include <inttypes.h>

enum { MOST_DIGITS = 9 }; /* a longer number is no number of ours, so one more than the largest fits 32 bits */

/* What is known of the names that begin with `stem`. */
typedef struct {
    Str stem;
    bool is_taken;
    uint32_t next; /* one more than the largest number behind it */
} Stem;

static void note_name(Stem *stem, Str name) {
    if (!str_starts(name, stem->stem)) {
        return;
    }
    Str rest = {name.ptr + stem->stem.len, name.len - stem->stem.len};
    uint64_t number;
    if (rest.len == 0) {
        stem->is_taken = true;
    } else if (rest.len <= MOST_DIGITS && str_to_u64(rest, &number) && number >= stem->next) {
        stem->next = (uint32_t)number + 1;
    }
}

static Stem read_names(const Graph *graph, Str text) {
    Stem stem = {.stem = text, .is_taken = text.len == 0};
    for (uint32_t v = 0; v < graph->value_count; v++) {
        note_name(&stem, graph->values[v].name);
    }
    for (uint32_t n = 0; n < graph->node_count; n++) {
        note_name(&stem, graph->nodes[n].name);
    }
    return stem;
}

/* Where the largest number has all digits, one more has too many to be known as free: the stem grows instead. */
Str graph_fresh_name(const Graph *graph, Str stem, Arena *keep) {
    static const uint32_t too_large = 1000000000; /* of MOST_DIGITS + 1 digits */
    Stem known = read_names(graph, stem);
    while (known.is_taken && known.next == too_large) {
        known = read_names(graph, arena_format(keep, STR_FMT "_", STR_ARG(known.stem)));
    }
    return known.is_taken ? arena_format(keep, STR_FMT "%" PRIu32, STR_ARG(known.stem), known.next) : known.stem;
}
