/* What the tests of the layout room share: shapes, and parsing that must succeed. */
#ifndef S0_TEST_LAYOUT_SUPPORT_H
#define S0_TEST_LAYOUT_SUPPORT_H

#include "layout/view.h"
#include "support/work.h"

static inline LayoutShape shape_nchw(uint32_t bits, uint64_t n, uint64_t c, uint64_t h, uint64_t w) {
    LayoutShape shape = layout_shape(bits, 4);
    shape.extent[DIM_N] = n;
    shape.extent[DIM_C] = c;
    shape.extent[DIM_H] = h;
    shape.extent[DIM_W] = w;
    return shape;
}

static inline const Contract *parse(Work *work, const char *text) {
    ContractError error = {0};
    const Contract *contract = contract_parse(&work->keep, str_from(text), &error);
    if (contract == NULL) {
        fail_msg("'%s', column %u: %s, got %s, expected %s", text, error.column, error.what, error.got, error.expected);
    }
    return contract;
}

static inline View resolve(Work *work, const char *text, LayoutShape shape) {
    View view;
    ViewStatus status = view_resolve(parse(work, text), &shape, &view, NULL);
    if (status != VIEW_DONE) {
        fail_msg("'%s': %s", text, view_status_text(status));
    }
    return view;
}

#endif
