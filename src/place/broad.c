/* Broad: loads summed over stretches of steps.
 *
 * Invariant: the marks are sorted by step; from a mark to the next the load is the mark's. */
#include "place/broad.h"

#include "base/fault.h"

/* From `step` on `load` bytes live; bytes times steps until there in `area`. */
typedef struct {
    uint64_t step, load;
    double area;
} Mark;

static double area_from(const Mark *mark, uint64_t step) {
    return mark->area + (double)mark->load * (double)(step - mark->step);
}

/* One for each step at which items come or go, and more; two for each item. */
static Mark *draw_marks(const Pack *pack, Arena *scratch) {
    Mark *mark = arena_array(scratch, Mark, 2 * pack->count);
    const LifeEnd *death = pack_deaths(pack, scratch);
    size_t born = 0;
    Mark now = {0, 0, 0};
    for (size_t k = 0; k < 2 * pack->count; k++) {
        bool is_birth = born < pack->count && pack->item[born].first < death->last;
        uint64_t step = is_birth ? pack->item[born].first : death->last;
        now.area = area_from(&now, step);
        now.step = step;
        now.load = is_birth ? now.load + pack->item[born++].size : now.load - pack->item[(death++)->item].size;
        mark[k] = now;
    }
    return mark;
}

/* Bytes times steps until `step`. */
static double area_until(const Mark *mark, size_t count, uint64_t step) {
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (mark[middle].step <= step) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low == 0 ? 0 : area_from(&mark[low - 1], step);
}

static uint64_t mean_life(const Pack *pack) {
    Wide steps = 0, count = 0;
    for (; count < pack->count; count++) {
        steps += pack->item[count].last - pack->item[count].first;
    }
    CHECK(count > 0);
    return (uint64_t)(steps / count);
}

uint64_t broad_peak(const Pack *pack, Arena *scratch) {
    const Mark *mark = draw_marks(pack, scratch);
    size_t count = 2 * pack->count;
    uint64_t half = mean_life(pack);
    uint64_t fullest = 0;
    double most = -1;
    for (size_t k = 0; k < count; k++) {
        uint64_t step = mark[k].step;
        uint64_t from = step > half ? step - half : 0;
        uint64_t until = step < UINT64_MAX - half ? step + half : UINT64_MAX;
        double area = area_until(mark, count, until) - area_until(mark, count, from);
        if (area > most) {
            most = area;
            fullest = step;
        }
    }
    return fullest;
}
