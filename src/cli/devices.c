/* `stride0 devices`: the presets, what one device is made of, and what is wrong with a device file. */
#include "cli/cli.h"

#include "device/check.h"

#include <inttypes.h>
#include <string.h>

typedef struct {
    const char *check;
    bool ini;
} Args;

static const Option options[] = {{"check", 0, OPTION_TEXT, "NAME|FILE",
                                  "say what is wrong with a device file, or a preset", offsetof(Args, check), NULL},
                                 {"ini", 0, OPTION_SWITCH, NULL,
                                  "print the preset as a device file, to be changed and given to -d",
                                  offsetof(Args, ini), NULL},
                                 {0}};

static const char *capacity_text(Arena *arena, const DeviceMemory *memory) {
    bool is_bounded = memory->bytes != UINT64_MAX;
    const char *bytes = is_bounded ? cli_number(arena, memory->bytes + memory->reserved_bytes) : "unbounded";
    return memory->lanes == 1 ? bytes : arena_text(arena, "%s x %" PRIu64, bytes, memory->lanes);
}

/* What of a network `stride0 run` can run on it. */
static const char *runs_text(const Device *device) {
    return device->kind == DEVICE_ARENA ? "-" : device->record_bits > 0 ? "chains" : "yes";
}

static void print_row(Arena *arena, const char *name, const Device *device) {
    const DeviceMemory *local = &device->memory[device->local];
    Str contract = contract_text(device->contract[ROLE_ACTIVATION]);
    printf("%-14s %-11s %14s %6" PRIu64 "  %-6s  " STR_FMT "\n", name, device_kind_name(device->kind),
           capacity_text(arena, local), local->align_bytes, runs_text(device), STR_ARG(contract));
}

static s0_status list_presets(Work *work) {
    printf("%-14s %-11s %14s %6s  %-6s  %s\n", "name", "kind", "local bytes", "align", "runs", "layout of activations");
    for (size_t i = 0; i < device_preset_count; i++) {
        const Device *device = device_load(work, str_from(device_presets[i].name));
        if (device == NULL) {
            return S0_BAD_INPUT;
        }
        print_row(&work->keep, device_presets[i].name, device);
    }
    return S0_DONE;
}

static void print_fact(const DeviceFact *fact) {
    enum { VALUE_WIDTH = 24 };
    printf("  %-18.*s  %-*.*s", STR_ARG(fact->key), VALUE_WIDTH, STR_ARG(fact->value));
    if (fact->value.len > VALUE_WIDTH) {
        printf("\n%*s", 22 + VALUE_WIDTH, "");
    }
    printf("  %s" STR_FMT "\n", fact->is_assumed ? "assumed: " : "", STR_ARG(fact->source));
}

static void print_section(const Device *device, const DeviceFact *first) {
    bool is_memory = str_starts(first->section, STR("memory "));
    const char *note = !device_is_described_only(device, first) ? ""
                       : is_memory                              ? " (described only: plans place nothing in it)"
                                                                : " (described only: no figure of a plan rests on it)";
    printf("\n" STR_FMT "%s\n", STR_ARG(first->section), note);
}

/* Section by section, each value with its source. */
static void print_device(const Device *device) {
    printf(STR_FMT " (" STR_FMT "), %s\n", STR_ARG(device->name), STR_ARG(device->file),
           device_kind_name(device->kind));
    Str section = {NULL, 0};
    for (size_t i = 0; i < device->fact_count; i++) {
        if (!str_eq(section, device->fact[i].section)) {
            section = device->fact[i].section;
            print_section(device, &device->fact[i]);
        }
        print_fact(&device->fact[i]);
    }
}

static s0_status show_device(Work *work, const char *name) {
    const Device *device = device_load(work, str_from(name));
    if (device == NULL) {
        return S0_BAD_INPUT;
    }
    print_device(device);
    return S0_DONE;
}

static s0_status print_ini(Work *work, const char *name) {
    const DevicePreset *preset = device_find_preset(str_from(name));
    if (preset != NULL) {
        fputs(preset->text, stdout);
        return S0_DONE;
    }
    Str nearest = device_suggest(&work->keep, str_from(name));
    diag_error(&work->diags, (DiagText){.what = "no such preset",
                                        .got = name,
                                        .hint = nearest.len == 0 ? "stride0 devices lists the presets"
                                                                 : arena_text(&work->keep, "did you mean " STR_FMT "?",
                                                                              STR_ARG(nearest))});
    return S0_BAD_INPUT;
}

/* A preset, or else a file, whatever its name. */
static s0_status check_file(Work *work, const char *path) {
    bool is_bare = strchr(path, '/') == NULL && device_find_preset(str_from(path)) == NULL;
    const char *file = is_bare ? arena_text(&work->keep, "./%s", path) : path;
    const Device *device = device_check(work, str_from(file));
    if (device == NULL) {
        return S0_BAD_INPUT;
    }
    printf("%s: device " STR_FMT " is well-formed: %zu sourced values", path, STR_ARG(device->name),
           device->fact_count);
    if (device->operator_count > 0) {
        printf(", %" PRIu32 " operator%s", device->operator_count, device->operator_count == 1 ? "" : "s");
    }
    putchar('\n');
    return S0_DONE;
}

static s0_status run_devices(Cli *cli, const void *data) {
    const Args *args = data;
    const char *name = cli->operands.count == 0 ? NULL : cli->operands.item[0];
    if (args->check != NULL && name == NULL && !args->ini) {
        return check_file(&cli->work, args->check);
    }
    if (args->check != NULL || (args->ini && name == NULL)) {
        diag_error(
            &cli->work.diags,
            (DiagText){.what = args->check != NULL ? "--check stands alone" : "which preset is not told",
                       .expected = "devices, devices NAME|FILE, devices NAME --ini or devices --check NAME|FILE"});
        return S0_BAD_INPUT;
    }
    if (name == NULL) {
        return list_presets(&cli->work);
    }
    return args->ini ? print_ini(&cli->work, name) : show_device(&cli->work, name);
}

const CliCommand command_devices = {
    .name = "devices",
    .operands = "[NAME|FILE]",
    .most_operands = 1,
    .summary = "the presets, what a device is made of, --check of a device file",
    .details = "The column runs: what stride0 run can run on it, simulated: yes; chains of per-channel operators\n"
               "only, where convolutions read records; -: an arena has no commands.\n",
    .options = options,
    .args_bytes = sizeof(Args),
    .run = run_devices};
