/* Parts of a whole tensor: cut along one dimension after another, outermost in memory first, until one is small enough.
 */
#include "sweep/parts.h"

#include "base/checked.h"

/* As the levels of the layout have them; then those of one element. */
static void find_order(const View *view, Dim order[DIM_COUNT]) {
    bool is_taken[DIM_COUNT] = {false};
    uint32_t count = 0;
    for (uint32_t k = 0; k < view->level_count; k++) {
        Dim d = view->level[k].dim;
        if (!is_taken[d]) {
            order[count++] = d;
            is_taken[d] = true;
        }
    }
    for (int d = 0; d < DIM_COUNT; d++) {
        if (!is_taken[d]) {
            order[count++] = (Dim)d;
        }
    }
}

static uint64_t part_bytes(const uint64_t part[DIM_COUNT], uint32_t bits) {
    return bytes_from_bits(bits * layout_elements(part));
}

/* Where both address maps begin a block. */
static uint64_t grain_of(const View *from, const View *to, Dim dim) {
    uint64_t a = view_grain(from, dim), b = view_grain(to, dim), grain = a, whole = to->shape.extent[dim];
    while (grain < whole && grain % b != 0) {
        grain += a;
    }
    return grain;
}

static void shrink(uint64_t part[DIM_COUNT], Dim dim, uint64_t grain, uint32_t bits, uint64_t most_bytes) {
    uint64_t whole = part[dim], least = 1, most = ceil_div(whole, grain);
    while (least < most) {
        uint64_t middle = most - (most - least) / 2;
        part[dim] = middle * grain < whole ? middle * grain : whole;
        bool fits = part_bytes(part, bits) <= most_bytes;
        least = fits ? middle : least;
        most = fits ? most : middle - 1;
    }
    part[dim] = least * grain < whole ? least * grain : whole;
}

MoveParts move_parts(const Device *device, const View *from, const View *to) {
    uint64_t most_bytes = device->dma_max_bytes.value;
    MoveParts parts = {.count = 1};
    for (int d = 0; d < DIM_COUNT; d++) {
        parts.extent[d] = parts.part[d] = to->shape.extent[d];
    }
    find_order(from, parts.order);
    for (size_t k = 0; k < DIM_COUNT; k++) {
        if (most_bytes > 0 && part_bytes(parts.part, to->shape.bits) > most_bytes) {
            shrink(parts.part, parts.order[k], grain_of(from, to, parts.order[k]), to->shape.bits, most_bytes);
        }
    }
    parts.fits = most_bytes == 0 || part_bytes(parts.part, to->shape.bits) <= most_bytes;
    for (int d = 0; d < DIM_COUNT; d++) {
        parts.count *= parts.part[d] == 0 ? 1 : ceil_div(parts.extent[d], parts.part[d]);
    }
    return parts;
}

static void clip(const MoveParts *parts, ViewBox *box) {
    for (int d = 0; d < DIM_COUNT; d++) {
        uint64_t rest = parts->extent[d] - box->first[d];
        box->extent[d] = rest < parts->part[d] ? rest : parts->part[d];
    }
}

bool move_kind(const MoveParts *parts, uint32_t tails, ViewBox *box, uint64_t *times) {
    *times = 1;
    for (int d = 0; d < DIM_COUNT; d++) {
        uint64_t part = parts->part[d], full = part == 0 ? 1 : parts->extent[d] / part;
        bool is_tail = (tails >> d & 1) != 0;
        box->first[d] = is_tail ? full * part : 0;
        box->extent[d] = is_tail ? parts->extent[d] - full * part : part;
        *times *= is_tail ? box->extent[d] > 0 : full; /* of all parts, whose number fits */
    }
    return *times > 0;
}

ViewBox move_first(const MoveParts *parts) {
    ViewBox box = {.first = {0}};
    clip(parts, &box);
    return box;
}

bool move_next(const MoveParts *parts, ViewBox *box) {
    for (size_t k = DIM_COUNT; k-- > 0;) {
        Dim d = parts->order[k];
        if (parts->extent[d] - box->first[d] > parts->part[d]) {
            box->first[d] += parts->part[d];
            clip(parts, box);
            return true;
        }
        box->first[d] = 0;
    }
    return false;
}
