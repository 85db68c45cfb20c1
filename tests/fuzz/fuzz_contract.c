/* Fuzz target: any bytes as a layout contract. What is refused names a column of the text; what parses resolves small
 * shapes to views whose every element lies inside the footprint and is found again at its address. */
#include "layout/view.h"

#include "base/checked.h"
#include "base/fault.h"
#include "base/work.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const LayoutShape shapes[] = {
    {{1, 1, 1, 1, 1, 1}, 8, 0},   {{1, 3, 2, 5, 1, 1}, 8, 4}, {{2, 2, 2, 2, 2, 2}, 4, 6},
    {{1, 17, 1, 1, 1, 1}, 80, 1}, {{1, 0, 4, 4, 1, 1}, 8, 4}, {{1, 1, 3, 3, 5, 6}, 2, 4},
};

static void check_view(const View *view) {
    uint64_t index[DIM_COUNT] = {0};
    if (view->logical_bits == 0) {
        CHECK(view->bank_bytes == 0 && view->banks_used == 0 && view_touched_bytes(view) == 0);
        return;
    }
    CHECK(view->banks_used >= 1 && view->banks_used <= view->logical_bits / view->shape.bits);
    CHECK(view->bank_bytes >= view_logical_bytes(view) / view->banks_used);
    CHECK(view_touched_bytes(view) >= view_logical_bytes(view));
    do {
        uint64_t found[DIM_COUNT];
        ViewAddress at = view_address(view, index);
        CHECK(at.byte + bytes_from_bits(at.bit + view->shape.bits) <= view->bank_bytes);
        CHECK(view_find_index(view, at.bank, at.byte * 8 + at.bit, found));
        for (int d = 0; d < DIM_COUNT; d++) {
            CHECK(found[d] == index[d]);
        }
    } while (view_next_index(&view->shape, index));
}

static void check_text(Work *work, const uint8_t *data, size_t size) {
    ContractError error = {0};
    const Contract *contract = contract_parse(&work->keep, (Str){(const char *)data, size}, &error);
    if (contract == NULL) {
        CHECK(error.column >= 1 && error.column <= size + 1 && error.what != NULL);
        return;
    }
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
        View view;
        if (view_resolve(contract, &shapes[k], &view, NULL) == VIEW_DONE) {
            check_view(&view);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Work work;
    work_init(&work, &system_allocator);
    if (setjmp(work.escape) == 0) {
        check_text(&work, data, size);
    }
    work_free(&work);
    return 0;
}
