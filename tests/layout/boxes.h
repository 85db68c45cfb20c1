/* What the tests of boxes share: contracts of devices, views of draws, boxes in them. */
#ifndef S0_TEST_LAYOUT_BOXES_H
#define S0_TEST_LAYOUT_BOXES_H

#include "layout/draw.h"
#include "layout/runs.h"
#include "layout/support.h"

enum { MOST_ELEMENTS = 1500 };

static const char *const known_contracts[] = {
    "N C H W",
    "N H W C",
    "N C H W@1",
    "N H C/16 W C%16",
    "N C/32 H W C%32",
    "when C==1: N H W@16 C | N H W C@16",
    "bank[C%64] N C/64 H@64 W",
    "bank[C/4%16] N C/64 H W C%4@16",
    "bank[C%2 H%3] N C/2 H/3 W",
    "when W<=4: N C/4 H C%4 W@4 | when W<=8: N C/2 H C%2 W@8 | N C H W@16", /* K210's three cases, small */
    "N H/8 W/8 C/32 H%8 W/2%4 C%32 W%2",                                    /* croutons */
    "N C H W/32+2 W%16 W/16%2",
    "C%4 N W C/4 H",
    "N C/3 H/2 W C%3 H%2",
};
enum { KNOWN_COUNT = sizeof known_contracts / sizeof known_contracts[0] };

/* ---- Draws */

static inline View resolve_draw(Work *work, const Draw *draw) {
    char text[512];
    LayoutShape shape = layout_shape((uint32_t)draw->bits, 4);
    memcpy(shape.extent, draw->extent, sizeof draw->extent);
    brute_print(&draw->item, text, sizeof text);
    char *kept = arena_alloc(&work->keep, strlen(text) + 1, 1);
    memcpy(kept, text, strlen(text) + 1);
    return resolve(work, kept, shape);
}

static inline uint64_t elements_of(const uint64_t extent[DIM_COUNT]) {
    uint64_t elements = 1;
    for (int d = 0; d < DIM_COUNT; d++) {
        elements *= extent[d];
    }
    return elements;
}

/* A box whose first index is a multiple of the grain. */
static inline ViewBox draw_box(uint64_t *seed, const View *view) {
    ViewBox box = view_whole_box(&view->shape);
    for (int d = 0; d < DIM_COUNT; d++) {
        uint64_t grain = view_grain(view, (Dim)d);
        box.first[d] = draw_below(seed, (view->shape.extent[d] - 1) / grain + 1) * grain;
        box.extent[d] = 1 + draw_below(seed, view->shape.extent[d] - box.first[d]);
        if (draw_one_in(seed, 3)) {
            box.extent[d] = view->shape.extent[d] - box.first[d];
        }
    }
    return box;
}

static inline LayoutShape shape_of_box(const View *view, const ViewBox *box) {
    LayoutShape shape = view->shape;
    memcpy(shape.extent, box->extent, sizeof shape.extent);
    return shape;
}

static inline void add_first(const ViewBox *box, const uint64_t i[DIM_COUNT], uint64_t index[DIM_COUNT]) {
    for (int d = 0; d < DIM_COUNT; d++) {
        index[d] = box->first[d] + i[d];
    }
}

#endif
