/* What must hold between the values of a device file. */
#include "device/together.h"

#include "base/checked.h"
#include "device/ini.h"

#include <inttypes.h>
#include <string.h>

/* What is checked, and where it is told. */
typedef struct {
    Work *work;
    const Device *device;
} Check;

/* At the line of a key; at the file where it has none. Returns false. */
static bool error_at(const Check *check, const char *section, const char *key, DiagText text) {
    Arena *arena = &check->work->keep;
    const DeviceFact *fact = device_fact(check->device, section, key);
    text.place = fact == NULL ? arena_text(arena, STR_FMT, STR_ARG(check->device->file))
                              : device_ini_place(arena, check->device->file, fact->line);
    text.line = fact == NULL ? 0 : fact->line;
    return diag_error(&check->work->diags, text);
}

/* ---- Memories */

static bool find_memory(const Check *check, const char *name, uint32_t *index) {
    const Device *device = check->device;
    Arena *arena = &check->work->keep;
    for (uint32_t i = 0; i < device->memory_count; i++) {
        if (str_eq(device->memory[i].name, str_from(name))) {
            *index = i;
            return true;
        }
    }
    bool is_local = strcmp(name, "local") == 0; /* needed by every kind */
    const char *kind = is_local ? "any kind" : arena_text(arena, "kind %s", device_kind_name(device->kind));
    return error_at(check, "", "",
                    (DiagText){.what = arena_text(arena, "a device of %s needs a memory '%s'", kind, name),
                               .expected = arena_text(arena, "a section [memory %s]", name)});
}

bool device_find_memories(Work *work, Device *device, bool is_kind_known) {
    const Check check = {work, device};
    bool all = find_memory(&check, "local", &device->local);
    const char *backing = device->kind == DEVICE_ARENA ? "flash" : "far";
    return (!is_kind_known || find_memory(&check, backing, &device->backing)) && all;
}

static bool check_reserved(const Check *check, const DeviceMemory *memory, const char *section) {
    Arena *arena = &check->work->keep;
    bool is_unbounded = memory->bytes == UINT64_MAX;
    if (memory->reserved_bytes == 0 ||
        (!is_unbounded && memory->reserved_bytes <= memory->bytes - memory->align_bytes)) {
        return true;
    }
    return error_at(
        check, section, "reserved_bytes",
        (DiagText){.what =
                       is_unbounded
                           ? arena_text(arena, "nothing can be reserved of memory '" STR_FMT "', which is unbounded",
                                        STR_ARG(memory->name))
                           : arena_text(arena, "what is reserved leaves no room in memory '" STR_FMT "'",
                                        STR_ARG(memory->name)),
                   .got = arena_text(arena, "%" PRIu64 " bytes", memory->reserved_bytes),
                   .expected = is_unbounded ? "bytes of that memory as a number"
                                            : arena_text(arena, "at most %" PRIu64 ": bytes less align_bytes",
                                                         memory->bytes - memory->align_bytes)});
}

/* A scratchpad's tiles are made for its local memory; what that has no room for goes to far memory as it is. */
static bool check_overflow(const Check *check, uint32_t index) {
    const Device *device = check->device;
    const DeviceMemory *memory = &device->memory[index], *local = &device->memory[device->local];
    Arena *arena = &check->work->keep;
    const char *section = arena_text(arena, "memory " STR_FMT, STR_ARG(memory->name));
    if (memory->overflow == OVERFLOW_NONE) {
        return true;
    }
    bool is_arena = device->kind == DEVICE_ARENA;
    bool is_first = index == device->local || index == device->backing;
    bool is_of_local = memory->overflow == OVERFLOW_LOCAL;
    Str of = device_fact(device, section, "overflow")->value;
    if (is_first || (is_of_local ? !is_arena : !str_eq(of, device->memory[device->backing].name))) {
        return error_at(
            check, section, "overflow",
            (DiagText){.what = arena_text(arena, "[%s] can't take that overflow", section),
                       .got = arena_text(arena, "overflow = " STR_FMT ", of kind %s", STR_ARG(of),
                                         device_kind_name(device->kind)),
                       .expected = is_first   ? "a memory beside local and what is behind it"
                                   : is_arena ? "local or flash"
                                              : "far: what local memory has no room for goes to far memory anyway"});
    }
    return !is_of_local || memory->lanes >= local->lanes ||
           error_at(check, section, "overflow",
                    (DiagText){.what = arena_text(arena, "[%s] has fewer lanes than [memory local]", section),
                               .got = arena_text(arena, "%" PRIu64 " and %" PRIu64, memory->lanes, local->lanes)});
}

static bool check_memory(const Check *check, const DeviceMemory *memory) {
    Arena *arena = &check->work->keep;
    const char *section = arena_text(arena, "memory " STR_FMT, STR_ARG(memory->name));
    if (memory->align_bytes <= memory->bytes) {
        return check_reserved(check, memory, section);
    }
    return error_at(
        check, section, "align_bytes",
        (DiagText){
            .what = arena_text(arena, "memory '" STR_FMT "' is smaller than its alignment", STR_ARG(memory->name)),
            .got = arena_text(arena, "%" PRIu64 " bytes, aligned to %" PRIu64, memory->bytes, memory->align_bytes),
            .expected = "align_bytes of at most bytes"});
}

static bool check_memories(const Check *check) {
    const Device *device = check->device;
    bool all = true;
    for (uint32_t i = 0; i < device->memory_count; i++) {
        all = check_memory(check, &device->memory[i]) && check_overflow(check, i) && all;
    }
    return all;
}

/* ---- Contracts */

const char *device_role_dims(Role role) {
    return role == ROLE_WEIGHT ? "O I H W" : "N C H W";
}

bool device_role_has(Role role, Dim dim) {
    bool is_channel_of_weights = dim == DIM_O || dim == DIM_I;
    bool is_of_maps = dim == DIM_N || dim == DIM_C;
    return role == ROLE_WEIGHT ? !is_of_maps : !is_channel_of_weights;
}

bool device_contract_names(const Contract *contract, Dim dim) {
    for (size_t k = 0; k < contract_case_count(contract); k++) {
        if (contract_case_facts(contract, k).names[dim]) {
            return true;
        }
    }
    return false;
}

/* The file's [memory local] has lanes of its own, so a bank beyond the last would lie nowhere. */
static bool check_banks(const Check *check, Role role) {
    Arena *arena = &check->work->keep;
    const Contract *contract = check->device->contract[role];
    uint64_t lanes = check->device->memory[check->device->local].lanes;
    uint64_t most = 1;
    for (size_t k = 0; k < contract_case_count(contract); k++) {
        uint64_t banks = contract_case_facts(contract, k).bank_count;
        most = banks > most ? banks : most;
    }
    if (most <= lanes) {
        return true;
    }
    const char *got = most == UINT64_MAX
                          ? "no bound: a term of bank[…] without a %mod, or a product past 64 bits"
                          : arena_text(arena, "%" PRIu64 " banks: the product of the %%mod in bank[…]", most);
    return error_at(check, "contract", role_name(role),
                    (DiagText){.what = arena_text(arena, "[contract] %s has more banks than local memory has lanes",
                                                  role_name(role)),
                               .got = got,
                               .expected = arena_text(arena, "at most %" PRIu64 ", the lanes of [memory local]", lanes),
                               .hint = arena_text(arena,
                                                  "give each term of bank[…] a %%mod with a product of at most %" PRIu64
                                                  ", or set lanes in [memory local]",
                                                  lanes)});
}

/* A tensor begins where the memory and the contract both let one begin. */
static bool check_bases(const Check *check, Role role, uint64_t operators_align_bytes) {
    Arena *arena = &check->work->keep;
    const Contract *contract = check->device->contract[role];
    for (size_t k = 0; k < contract_case_count(contract); k++) {
        uint64_t base = contract_case_facts(contract, k).base_bytes, multiple;
        for (uint32_t m = 0; m < check->device->memory_count; m++) {
            uint64_t align = check->device->memory[m].align_bytes;
            if (!checked_common_multiple(align, base, &multiple) ||
                !checked_common_multiple(multiple, operators_align_bytes, &multiple)) {
                return error_at(
                    check, "contract", role_name(role),
                    (DiagText){.what = arena_text(arena, "[contract] %s has a base too large for a memory's alignment",
                                                  role_name(role)),
                               .got = arena_text(arena, "base@%" PRIu64 " and align_bytes = %" PRIu64, base, align),
                               .expected = "a common multiple below 2^64"});
            }
        }
    }
    return true;
}

static bool check_channel(const Check *check, Role role, Dim dim) {
    Arena *arena = &check->work->keep;
    const Contract *contract = check->device->contract[role];
    Str text = contract_text(contract);
    if (device_contract_names(contract, dim)) {
        return true;
    }
    return error_at(check, "contract", role_name(role),
                    (DiagText){.what = arena_text(arena,
                                                  "[contract] %s names no level of %c: it holds no tensor where "
                                                  "that is not 1",
                                                  role_name(role), dim_letter(dim)),
                               .got = arena_text(arena, "'" STR_FMT "'", STR_ARG(text)),
                               .expected = arena_text(arena, "levels of %s", device_role_dims(role)),
                               .hint = "docs/contracts.md says which dimensions each role has"});
}

static bool check_contracts(const Check *check, uint64_t operators_align_bytes) {
    bool all = true;
    for (Role role = 0; role < ROLE_COUNT; role++) {
        all = check_banks(check, role) && all;
        all = check_bases(check, role, operators_align_bytes) && all;
        all = check_channel(check, role, role == ROLE_WEIGHT ? DIM_O : DIM_C) && all;
        all = (role != ROLE_WEIGHT || check_channel(check, role, DIM_I)) && all;
    }
    return all;
}

/* ---- Operators */

/* What all operators are content with: of powers of two the largest. */
static bool check_operators(const Check *check, uint64_t *align_bytes) {
    Arena *arena = &check->work->keep;
    bool all = true;
    *align_bytes = 1;
    for (uint32_t i = 0; i < check->device->operator_count; i++) {
        const DeviceOperator *op = &check->device->operators[i];
        *align_bytes = op->align_bytes > *align_bytes ? op->align_bytes : *align_bytes;
        if ((op->align_bytes & (op->align_bytes - 1)) != 0) {
            const char *section = arena_text(arena, STR_FMT, STR_ARG(op->section));
            all = error_at(check, section, "align_bytes",
                           (DiagText){.what = arena_text(arena, "[%s] align_bytes is no power of two", section),
                                      .got = arena_text(arena, "%" PRIu64, op->align_bytes)});
        }
    }
    return all;
}

/* ---- Forms and the DMA */

static bool check_forms(const Check *check) {
    for (Form form = 0; form < FORM_COUNT; form++) {
        if (check->device->form[form].readable) {
            return true;
        }
    }
    return error_at(check, "parameter", form_name(FORM_SCALAR),
                    (DiagText){.what = "[parameter] no form can be read: no parameter has a place",
                               .got = "'no' for scalar, channel, row and full",
                               .expected = "a grain in bytes for at least one",
                               .hint = "'full' is what an engine reads that broadcasts nothing"});
}

/* Of limits that are told: one that is not is 0. */
static bool check_limit(const Check *check, const char *key, DeviceCost low) {
    Arena *arena = &check->work->keep;
    uint64_t most = check->device->dma_max_bytes.value;
    if (most == 0 || low.value <= most) {
        return true;
    }
    return error_at(check, "dma", key,
                    (DiagText){.what = arena_text(arena, "[dma] %s is larger than max_bytes", key),
                               .got = arena_text(arena, "%" PRIu64 " and %" PRIu64, low.value, most)});
}

bool device_check_together(Work *work, const Device *device) {
    const Check check = {work, device};
    bool all = check_memories(&check);
    uint64_t align_bytes;
    all = check_operators(&check, &align_bytes) && all;
    all = all && check_contracts(&check, align_bytes);
    all = check_forms(&check) && all;
    all = check_limit(&check, "min_bytes", device->dma_min_bytes) && all;
    return check_limit(&check, "align_bytes", device->dma_align_bytes) && all;
}
