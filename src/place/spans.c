/* Sets of steps as spans. */
#include "place/spans.h"

#include <stdlib.h>

static int compare_spans(const void *left, const void *right) {
    const PlaceSpan *a = left;
    const PlaceSpan *b = right;
    if (a->first != b->first) {
        return a->first < b->first ? -1 : 1;
    }
    return a->last < b->last ? -1 : a->last > b->last;
}

size_t spans_join(PlaceSpan *span, size_t count) {
    size_t joined = 0;
    if (count > 0) {
        qsort(span, count, sizeof *span, compare_spans);
    }
    for (size_t k = 0; k < count; k++) {
        if (joined == 0 || span[k].first > span[joined - 1].last) {
            span[joined++] = span[k];
        } else if (span[k].last > span[joined - 1].last) {
            span[joined - 1].last = span[k].last;
        }
    }
    return joined;
}
