/* Checking a device file beyond its text. */
#include "device/check.h"

#include "device/ini.h"
#include "device/together.h"

#include <inttypes.h>

/* ---- Which shapes a contract leaves out */

static const uint32_t probe_bits[] = {2, 4, 8, 16, 32, 64};
static const uint64_t probe_extents[][4] = {
    {1, 1, 1, 1}, {1, 12, 20, 28}, {1, 1, 20, 28}, {2, 3, 5, 7}, {4, 65, 33, 40}, {1, 1024, 1, 1}, {1, 8, 1, 300},
};

static LayoutShape probe_shape(Role role, uint32_t bits, const uint64_t extent[4]) {
    LayoutShape shape = layout_shape(bits, 4);
    shape.extent[role == ROLE_WEIGHT ? DIM_O : DIM_N] = extent[0];
    shape.extent[role == ROLE_WEIGHT ? DIM_I : DIM_C] = extent[1];
    shape.extent[DIM_H] = extent[2];
    shape.extent[DIM_W] = extent[3];
    return shape;
}

static void warn_at(Work *work, const Device *device, const DeviceFact *fact, DiagText text) {
    text.place = device_ini_place(&work->keep, device->file, fact->line);
    text.line = fact->line;
    diag_warn(&work->diags, text);
}

static void warn(Work *work, const Device *device, Role role, DiagText text) {
    warn_at(work, device, device_fact(device, "contract", role_name(role)), text); /* required: it has a fact */
}

/* A shape that the contract does not hold: why, and for VIEW_UNNAMED the dimension. */
typedef struct {
    const LayoutShape *shape;
    ViewStatus status;
    Dim dim;
} LeftOut;

static void warn_left_out(Work *work, const Device *device, Role role, const LeftOut *left_out) {
    Arena *arena = &work->keep;
    const LayoutShape *shape = left_out->shape;
    bool is_unnamed = left_out->status == VIEW_UNNAMED;
    char letter = is_unnamed ? dim_letter(left_out->dim) : ' ';
    const char *why = is_unnamed ? arena_text(arena, "the case that holds names no level of %c, which is not 1", letter)
                                 : view_status_text(left_out->status);
    const char *hint = is_unnamed ? arena_text(arena, "add a level of %c to that case; levels are those of %s", letter,
                                               device_role_dims(role))
                                  : "leave the last case without a guard, and name every dimension in each";
    Dim a = role == ROLE_WEIGHT ? DIM_O : DIM_N;
    Dim b = role == ROLE_WEIGHT ? DIM_I : DIM_C;
    warn(work, device, role,
         (DiagText){.what = arena_text(&work->keep, "[contract] %s leaves shapes out: %s", role_name(role), why),
                    .got =
                        arena_text(&work->keep,
                                   "%s = %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 ", elements of %" PRIu32 " bits",
                                   device_role_dims(role), shape->extent[a], shape->extent[b], shape->extent[DIM_H],
                                   shape->extent[DIM_W], shape->bits),
                    .hint = hint});
}

/* True where a shape was found that the contract does not hold. */
static bool probe_role(Work *work, const Device *device, Role role) {
    for (size_t b = 0; b < sizeof probe_bits / sizeof probe_bits[0]; b++) {
        for (size_t e = 0; e < sizeof probe_extents / sizeof probe_extents[0]; e++) {
            LayoutShape shape = probe_shape(role, probe_bits[b], probe_extents[e]);
            View view;
            LeftOut left_out = {.shape = &shape, .dim = DIM_COUNT};
            left_out.status = view_resolve(device->contract[role], &shape, &view, &left_out.dim);
            if (left_out.status != VIEW_DONE) {
                warn_left_out(work, device, role, &left_out);
                return true;
            }
        }
    }
    return false;
}

/* Shapes that were probed are some of all: a guard on the last case may leave out others. */
static void check_last_case(Work *work, const Device *device, Role role) {
    const Contract *contract = device->contract[role];
    if (contract_case_facts(contract, contract_case_count(contract) - 1).has_guard) {
        warn(
            work, device, role,
            (DiagText){.what = arena_text(&work->keep, "[contract] %s: the last case has a guard too", role_name(role)),
                       .expected = "a last case without 'when', for all shapes that no other takes",
                       .hint = "a network with a shape that no case takes is refused"});
    }
}

static void check_foreign_dims(Work *work, const Device *device, Role role) {
    for (Dim dim = 0; dim < DIM_COUNT; dim++) {
        if (!device_role_has(role, dim) && device_contract_names(device->contract[role], dim)) {
            warn(work, device, role,
                 (DiagText){.what = arena_text(&work->keep, "[contract] %s names %c, which its tensors don't have",
                                               role_name(role), dim_letter(dim)),
                            .expected = arena_text(&work->keep, "levels of %s", device_role_dims(role))});
        }
    }
}

/* ---- Prices that nothing pays */

static void check_prices(Work *work, const Device *device) {
    Arena *arena = &work->keep;
    for (uint32_t m = 0; m < device->memory_count; m++) {
        const DeviceMemory *memory = &device->memory[m];
        const char *section = arena_text(arena, "memory " STR_FMT, STR_ARG(memory->name));
        const DeviceFact *fact = device_fact(device, section, "price");
        bool is_used = m == device->local || m == device->backing || memory->overflow != OVERFLOW_NONE;
        if (fact != NULL && !is_used) {
            Str first = device->memory[device->kind == DEVICE_ARENA ? device->local : device->backing].name;
            warn_at(
                work, device, fact,
                (DiagText){.what = arena_text(arena, "[%s] has a price, but plans place nothing there", section),
                           .got = arena_text(arena, "no 'overflow' in [%s]", section),
                           .hint = arena_text(arena, "add 'overflow = " STR_FMT " @ SOURCE', or leave the price out",
                                              STR_ARG(first))});
        }
    }
}

const Device *device_check(Work *work, Str name_or_path) {
    const Device *device = device_load(work, name_or_path);
    const Diags before = work->diags;
    if (device != NULL) {
        check_prices(work, device);
    }
    for (Role role = 0; device != NULL && role < ROLE_COUNT; role++) {
        if (!probe_role(work, device, role)) {
            check_last_case(work, device, role);
        }
        check_foreign_dims(work, device, role);
    }
    diags_sort(&work->diags, before);
    return device;
}
