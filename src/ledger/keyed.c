/* Names of two plans, side by side. */
#include "ledger/keyed.h"

#include <stdlib.h>

Keyed keyed_buffer(const Side *side, uint32_t index) {
    const SideBuffer *buffer = &side->buffers[index];
    bool is_workspace = buffer->kind == BUFFER_WORKSPACE;
    uint32_t group = side_is_constant(buffer) ? KEYED_CONSTANT : is_workspace ? KEYED_WORKSPACE : KEYED_MAP;
    return (Keyed){group, is_workspace ? buffer->node : buffer->name, !buffer->is_form, index};
}

int keyed_order(const Keyed *a, const Keyed *b) {
    return a->group != b->group ? (a->group < b->group ? -1 : 1) : str_order(a->key, b->key);
}

static int in_order(const void *left, const void *right) {
    const Keyed *a = left, *b = right;
    int order = keyed_order(a, b);
    if (order != 0 || a->tie != b->tie) {
        return order != 0 ? order : a->tie < b->tie ? -1 : 1;
    }
    return a->index < b->index ? -1 : a->index > b->index;
}

void keyed_sort(Keyed *items, uint32_t count) {
    if (count > 1) {
        qsort(items, count, sizeof *items, in_order);
    }
}

bool keyed_has(const Keyed *items, uint32_t count, const Keyed *wanted) {
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = keyed_order(&items[middle], wanted);
        if (order == 0) {
            return true;
        }
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return false;
}
