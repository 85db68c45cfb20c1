/* Options of `stride0 pack`, and the question they make of a table: memories, numbers, pins. */
#include "base/checked.h"
#include "base/nearest.h"
#include "cli/pack.h"
#include "device/device.h"
#include "request.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { MOST_MEMORIES = 256 };

/* Where neither nodes nor time are limited: a minute or so. */
static const uint64_t DEFAULT_NODES = 1000000;

/* ---- Numbers */

static bool read_bytes(Work *work, const char *option, const char *text, uint64_t *bytes) {
    if (text == NULL || (str_to_bytes(str_from(text), bytes) && *bytes > 0)) {
        return true;
    }
    return diag_error(&work->diags,
                      (DiagText){.place = arena_text(&work->keep, "option %s", option),
                                 .what = "the value can't be used",
                                 .got = text,
                                 .expected = "a number of bytes from 1 to 18446744073709551615, such as 4096, 256K or "
                                             "1M",
                                 .hint = nearest_bytes(&work->keep, str_from(text))});
}

static bool read_number(Work *work, const char *option, const char *text, uint64_t most, uint64_t *number) {
    if (text == NULL || (str_to_u64(str_from(text), number) && *number >= 1 && *number <= most)) {
        return true;
    }
    return request_bad_value(work, option, text, arena_text(&work->keep, "a whole number from 1 to %" PRIu64, most));
}

/* "0.25" is 250 milliseconds. */
static bool parse_ms(Str text, uint64_t *ms) {
    Str fraction = text;
    uint64_t seconds = 0, rest = 0;
    Str whole = str_cut(&fraction, '.');
    bool ok = str_to_u64(whole, &seconds) && checked_mul(seconds, 1000, ms);
    uint64_t unit = 100;
    for (size_t k = 0; k < fraction.len; k++, unit /= 10) {
        ok = ok && fraction.ptr[k] >= '0' && fraction.ptr[k] <= '9';
        rest += ok ? (uint64_t)(fraction.ptr[k] - '0') * unit : 0;
    }
    return ok && checked_add(*ms, rest, ms) && *ms > 0;
}

static bool read_time(Work *work, const char *text, uint64_t *ms) {
    return text == NULL || parse_ms(str_from(text), ms) ||
           request_bad_value(work, "--time-limit", text, "seconds, at least 0.001, such as 10 or 0.5");
}

static const char *list_inferences(Arena *arena) {
    const char *list = inference_name((Inference)0);
    for (int k = 1; k < INFER_COUNT; k++) {
        list = arena_text(arena, "%s, %s", list, inference_name((Inference)k));
    }
    return list;
}

static bool read_without(Work *work, const Texts *texts, uint32_t *switched_off) {
    for (size_t k = 0; k < texts->count; k++) {
        int inference = 0;
        while (inference < INFER_COUNT && strcmp(inference_name((Inference)inference), texts->item[k]) != 0) {
            inference++;
        }
        if (inference == INFER_COUNT) {
            return request_bad_value(work, "--without", texts->item[k], list_inferences(&work->keep));
        }
        *switched_off |= (uint32_t)1 << inference;
    }
    return true;
}

static bool read_search(Work *work, const PackArgs *args, SolverOptions *options) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t threads = processors < 1                     ? 1
                       : processors > SOLVER_MOST_THREADS ? SOLVER_MOST_THREADS
                                                          : (uint64_t)processors;
    *options = (SolverOptions){.is_minimised = args->minimise || (args->capacity == NULL && args->device == NULL &&
                                                                  args->memories.count == 0)};
    options->most_nodes = args->nodes == NULL && args->time_limit == NULL ? DEFAULT_NODES : 0;
    bool good = read_number(work, "--threads", args->threads, SOLVER_MOST_THREADS, &threads);
    good = read_number(work, "--nodes", args->nodes, UINT64_MAX, &options->most_nodes) && good;
    good = read_time(work, args->time_limit, &options->most_ms) && good;
    options->threads = (uint32_t)threads;
    return read_without(work, &args->without, &options->switched_off) && good;
}

/* ---- Memories */

static PackMemory *find_memory(const Pack *pack, Str name) {
    for (uint32_t m = 0; m < pack->memory_count; m++) {
        if (str_eq(pack->memory[m].name, name)) {
            return &pack->memory[m];
        }
    }
    return NULL;
}

/* "did you mean 64K?" of the bytes in tcm=64KB */
static const char *memory_hint(Arena *arena, const char *text) {
    Str price = str_from(text);
    str_cut(&price, '=');
    Str bytes = str_cut(&price, ':');
    uint64_t known;
    return str_to_bytes(bytes, &known) ? NULL : nearest_bytes(arena, bytes);
}

static bool bad_memory(Work *work, const char *text, const char *what) {
    return diag_error(&work->diags, (DiagText){.place = "option --memory",
                                               .what = what,
                                               .got = text,
                                               .expected = "NAME=BYTES or NAME=BYTES:PRICE, such as tcm=64K:0 or "
                                                           "dram=unbounded:3, each name once",
                                               .hint = memory_hint(&work->keep, text)});
}

/* The price is the position where it is not told: what is named first is the cheapest. */
static bool read_memory(Work *work, const char *text, Pack *pack) {
    Str price = str_from(text);
    PackMemory *memory = &pack->memory[pack->memory_count];
    *memory = (PackMemory){.name = str_cut(&price, '='), .bank = {.price = pack->memory_count}};
    Str bytes = str_cut(&price, ':');
    bool is_unbounded = str_eq(bytes, STR("unbounded"));
    memory->bank.capacity = UINT64_MAX;
    if (memory->name.len == 0 ||
        (!is_unbounded && (!str_to_bytes(bytes, &memory->bank.capacity) || memory->bank.capacity == 0)) ||
        (price.ptr != NULL && !str_to_u64(price, &memory->bank.price))) {
        return bad_memory(work, text, "the value can't be used");
    }
    if (find_memory(pack, memory->name) != NULL) {
        return bad_memory(work, text, "the memory is told twice");
    }
    pack->memory_count++;
    return true;
}

static bool read_memories(Work *work, const Texts *texts, Pack *pack) {
    pack->memory = arena_array(&work->keep, PackMemory, texts->count);
    for (size_t k = 0; k < texts->count; k++) {
        if (!read_memory(work, texts->item[k], pack)) {
            return false;
        }
    }
    return true;
}

/* The memories of a device file, in its order; flash, and what takes its overflow, holds no buffers. */
static bool read_device(Work *work, const char *name, Pack *pack) {
    const Device *device = device_load(work, str_from(name));
    if (device == NULL) {
        return false;
    }
    pack->memory = arena_array(&work->keep, PackMemory, device->memory_count);
    for (uint32_t m = 0; m < device->memory_count; m++) {
        const DeviceMemory *memory = &device->memory[m];
        if (device->kind == DEVICE_ARENA && device_first(device, m) == device->backing) {
            continue;
        }
        const char *section = arena_text(&work->keep, "memory " STR_FMT, STR_ARG(memory->name));
        bool has_price = device_fact(device, section, "price") != NULL;
        uint64_t price = has_price ? memory->price : pack->memory_count;
        pack->memory[pack->memory_count] =
            (PackMemory){memory->name, {.capacity = memory->bytes, .align_bytes = memory->align_bytes, .price = price}};
        pack->memory_count++;
    }
    return true;
}

bool pack_read_options(Work *work, const PackArgs *args, Pack *pack) {
    int sources = (args->capacity != NULL) + (args->memories.count > 0) + (args->device != NULL);
    if (sources > 1) {
        return diag_error(&work->diags, (DiagText){.what = "capacities are told in two ways",
                                                   .expected = "one of --capacity, --memory and --device"});
    }
    pack->capacity = UINT64_MAX;
    pack->unit = 1;
    bool good = read_search(work, args, &pack->problem.options);
    good = read_bytes(work, "--capacity", args->capacity, &pack->capacity) && good;
    good = read_bytes(work, "--align", args->align, &pack->unit) && good;
    good = read_memories(work, &args->memories, pack) && good;
    return (args->device == NULL || read_device(work, args->device, pack)) && good;
}

/* ---- The table among these memories */

/* Without memories that are told: one for each name of the table, or the only one. */
static void name_memories(Work *work, Pack *pack) {
    const Table *table = &pack->table;
    bool has_column = table->memory_count > 1;
    pack->memory_count = has_column ? table->memory_count - 1 : 1;
    pack->memory = arena_array(&work->keep, PackMemory, pack->memory_count);
    for (uint32_t m = 0; m < pack->memory_count; m++) {
        pack->memory[m] = (PackMemory){has_column ? table->memory[m + 1] : (Str){0}, {.capacity = pack->capacity}};
    }
}

static bool find_alignments(Work *work, Pack *pack) {
    for (uint32_t m = 0; m < pack->memory_count; m++) {
        uint64_t *align = &pack->memory[m].bank.align_bytes;
        *align = *align == 0 ? 1 : *align;
        if (!checked_common_multiple(*align, pack->unit, align)) {
            return diag_error(
                &work->diags,
                (DiagText){.place = "option --align",
                           .what = "it has no common multiple of 64 bits with the alignment of the device",
                           .got = arena_text(&work->keep, "%" PRIu64 " and %" PRIu64, pack->unit, *align)});
        }
    }
    return true;
}

static const char *list_memories(const Pack *pack, Arena *arena) {
    const char *list = arena_text(arena, STR_FMT, STR_ARG(pack->memory[0].name));
    for (uint32_t m = 1; m < pack->memory_count; m++) {
        list = arena_text(arena, "%s, " STR_FMT, list, STR_ARG(pack->memory[m].name));
    }
    return list;
}

static bool unknown_memory(Work *work, const Pack *pack, const TableRow *row) {
    Str name = pack->table.memory[row->memory];
    Nearest nearest = {.typed = name};
    for (uint32_t m = 0; m < pack->memory_count; m++) {
        nearest_offer(&nearest, pack->memory[m].name);
    }
    return diag_error(&work->diags,
                      (DiagText){.place = arena_text(&work->keep, "line %" PRIu64 ", column 'memory'", row->line),
                                 .what = "there is no such memory",
                                 .got = arena_text(&work->keep, "'" STR_FMT "'", STR_ARG(name)),
                                 .expected = list_memories(pack, &work->keep),
                                 .hint = nearest_hint(&work->keep, &nearest, "name it: --memory NAME=BYTES")});
}

/* The bank of each name of the table. */
static bool find_banks(Work *work, Pack *pack, uint32_t *bank) {
    bool *is_told = arena_array(&work->scratch, bool, pack->table.memory_count);
    bool good = true;
    bank[0] = BANK_ANY;
    for (size_t k = 0; k < pack->table.count; k++) {
        const TableRow *row = &pack->table.row[k];
        if (row->memory == 0 || is_told[row->memory]) {
            continue;
        }
        const PackMemory *memory = find_memory(pack, pack->table.memory[row->memory]);
        is_told[row->memory] = true;
        bank[row->memory] = memory == NULL ? BANK_ANY : (uint32_t)(memory - pack->memory);
        good = (memory != NULL || unknown_memory(work, pack, row)) && good;
    }
    return good;
}

/* A pin off the unit of the only memory that it can be in is a slip of whoever asks, and no misfit. */
static bool check_pins(Work *work, const Pack *pack) {
    for (size_t k = 0; k < pack->table.count; k++) {
        const TableRow *row = &pack->table.row[k];
        const uint32_t where = pack->problem.where[pack->storages.of_row[k]];
        const uint64_t unit = pack->memory[where == BANK_ANY ? 0 : where].bank.align_bytes;
        bool has_choice = where == BANK_ANY && pack->memory_count > 1;
        if (row->is_pinned && !has_choice && row->offset % unit != 0) {
            return diag_error(
                &work->diags,
                (DiagText){.place = arena_text(&work->keep, "line %" PRIu64 ", column 'offset'", row->line),
                           .what = "the offset is not a multiple of the memory's alignment",
                           .got = arena_text(&work->keep, "%" PRIu64, row->offset),
                           .expected = arena_text(&work->keep, "a multiple of %" PRIu64, unit)});
        }
    }
    return true;
}

static bool make_problem(Work *work, Pack *pack) {
    BanksProblem *problem = &pack->problem;
    uint32_t *bank = arena_array(&work->scratch, uint32_t, pack->table.memory_count);
    Bank *banks = arena_array(&work->keep, Bank, pack->memory_count);
    if (!find_banks(work, pack, bank)) {
        return false;
    }
    for (uint32_t m = 0; m < pack->memory_count; m++) {
        banks[m] = pack->memory[m].bank;
    }
    problem->bank = banks;
    problem->bank_count = pack->memory_count;
    problem->buffer = pack->storages.buffer;
    problem->count = pack->storages.count;
    problem->where = arena_array(&work->keep, uint32_t, problem->count);
    for (size_t s = 0; s < problem->count; s++) {
        problem->where[s] = bank[pack->storages.memory[s]];
    }
    return check_pins(work, pack);
}

bool pack_ask(Work *work, Pack *pack) {
    if (pack->memory_count == 0) {
        name_memories(work, pack);
    }
    if (pack->memory_count > MOST_MEMORIES) {
        return diag_refuse(&work->diags, (DiagText){.what = "there are too many memories",
                                                    .got = arena_text(&work->keep, "%" PRIu32, pack->memory_count),
                                                    .expected = arena_text(&work->keep, "at most %d", MOST_MEMORIES)});
    }
    pack->has_names = pack->memory_count > 1 || pack->memory[0].name.len > 0;
    return find_alignments(work, pack) && storages_make(&pack->table, work, &pack->storages) &&
           make_problem(work, pack);
}
