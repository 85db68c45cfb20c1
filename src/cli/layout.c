/* `stride0 layout SHAPE`: how a shape is stored under a layout contract: sizes, strides, padding, one address. */
#include "cli/cli.h"
#include "cli/shape_text.h"

#include "base/dtype.h"
#include "base/json.h"
#include "device/device.h"
#include "layout/picture.h"
#include "layout/view.h"

#include <inttypes.h>

typedef struct {
    const char *dtype, *device, *contract, *address, *json;
    int role;
} Args;

static const char *const role_choices[] = {"activation", "weight", "parameter", NULL};

static const Option options[] = {
    {"dtype", 't', OPTION_TEXT, "TYPE", "int8 (default), uint8, int4, float32, … or a record of b1 to b128 bits",
     offsetof(Args, dtype), NULL},
    {"device", 'd', OPTION_TEXT, "DEVICE", "the layout contract of a preset or a device file", offsetof(Args, device),
     NULL},
    {"role", 0, OPTION_CHOICE, "ROLE", "which of the device's contracts: activation (default), weight, parameter",
     offsetof(Args, role), role_choices},
    {"contract", 0, OPTION_TEXT, "TEXT", "a layout contract, such as 'N H C/16 W C%16': docs/contracts.md",
     offsetof(Args, contract), NULL},
    {"address", 0, OPTION_TEXT, "INDEX", "where one element lies: an index a dimension, such as 0,3,7,1",
     offsetof(Args, address), NULL},
    {"json", 0, OPTION_OUTPUT, "FILE", "write the figures as JSON; - is standard output", offsetof(Args, json), NULL},
    {0}};

/* What is printed, in text and in JSON. */
typedef struct {
    const char *shape_text, *dtype;
    NamedShape named;
    const Contract *contract;
    View view;
    bool has_address;
    ViewAddress address;
    Arena *arena;
} Facts;

static const Contract *contract_of_device(Work *work, const Args *args) {
    const Device *device = device_load(work, str_from(args->device));
    return device == NULL ? NULL : device->contract[args->role];
}

static const Contract *contract_of_text(Work *work, const char *text) {
    ContractError error = {0};
    const Contract *contract = contract_parse(&work->keep, str_from(text), &error);
    if (contract == NULL) {
        diag_error(&work->diags,
                   (DiagText){.place = arena_text(&work->keep, "--contract, column %" PRIu32, error.column),
                              .what = error.what,
                              .got = error.got,
                              .expected = error.expected,
                              .excerpt = str_from(text),
                              .column = error.column});
    }
    return contract;
}

static const Contract *find_contract(Work *work, const Args *args) {
    if ((args->device == NULL) == (args->contract == NULL)) {
        diag_error(&work->diags,
                   (DiagText){.what = args->device == NULL ? "which layout is not told" : "two layouts are told",
                              .expected = "either --device or --contract",
                              .hint = "for example: -d teach, or --contract 'N H W C'"});
        return NULL;
    }
    if (args->contract != NULL && args->role != ROLE_ACTIVATION) {
        diag_error(&work->diags,
                   (DiagText){.place = "option --role",
                              .what = "a contract that is given is of no role",
                              .got = role_choices[args->role],
                              .expected = "--role beside --device, whose contracts it chooses from",
                              .hint = "leave the option out, and name the dimensions of weights in SHAPE: "
                                      "O16xI12xH3xW3"});
        return NULL;
    }
    return args->device != NULL ? contract_of_device(work, args) : contract_of_text(work, args->contract);
}

static bool resolve(Work *work, const char *shape_text, Facts *facts) {
    Dim unnamed = DIM_N;
    ViewStatus status = view_resolve(facts->contract, &facts->named.shape, &facts->view, &unnamed);
    if (status == VIEW_DONE) {
        return true;
    }
    const char *what = view_status_text(status);
    if (status == VIEW_UNNAMED) {
        what = arena_text(&work->keep, "%s: %c", what, dim_letter(unnamed));
    }
    uint32_t column = status == VIEW_UNNAMED ? cli_shape_column(&facts->named, unnamed) : 1;
    Str contract = contract_text(facts->contract);
    return diag_refuse(&work->diags, (DiagText){.place = arena_text(&work->keep, "SHAPE, column %" PRIu32, column),
                                                .what = what,
                                                .got = arena_text(&work->keep, "contract " STR_FMT, STR_ARG(contract)),
                                                .excerpt = str_from(shape_text),
                                                .column = column});
}

static bool find_bits(Work *work, const char *dtype, uint32_t *bits) {
    *bits = dtype_bits_of_name(str_from(dtype));
    return *bits > 0 || diag_error(&work->diags, (DiagText){.place = "option --dtype",
                                                            .what = "unknown element type",
                                                            .got = dtype,
                                                            .expected = "float32, float16, int2, int4, uint4, int8, "
                                                                        "uint8, int16, int32, int64, bool, or a "
                                                                        "record b1 to b128"});
}

static void write_level(Json *json, const ViewLevel *level, bool has_stride) {
    char letter[] = {dim_letter(level->dim), '\0'};
    json_object_inline(json);
    json_member_text(json, "dim", letter);
    json_member_u64(json, "div", level->div);
    json_member_u64(json, "mod", level->mod);
    json_member_u64(json, "extent", level->extent);
    if (has_stride) {
        json_member_u64(json, "stride_bits", level->stride_bits);
        json_member_u64(json, "head_bits", level->head_bits);
    }
    json_end(json);
}

static void write_strides(Json *json, const View *view) {
    json_key(json, "strides_bits");
    json_array_inline(json);
    for (uint32_t k = 0; k < view->level_count; k++) {
        json_u64(json, view->level[k].stride_bits);
    }
    json_end(json);
    json_key(json, "levels");
    json_array(json);
    for (uint32_t k = 0; k < view->level_count; k++) {
        write_level(json, &view->level[k], true);
    }
    json_end(json);
    json_key(json, "bank_terms");
    json_array(json);
    for (uint32_t k = 0; k < view->bank_term_count; k++) {
        write_level(json, &view->bank_term[k], false);
    }
    json_end(json);
}

static void write_address(Json *json, const Facts *facts) {
    json_key(json, "address");
    if (!facts->has_address) {
        json_null(json);
        return;
    }
    json_object_inline(json);
    json_member_u64(json, "bank", facts->address.bank);
    json_member_u64(json, "byte", facts->address.byte);
    json_member_u64(json, "bit", facts->address.bit);
    json_end(json);
}

static void write_json(FILE *out, const void *data) {
    const Facts *facts = data;
    Json json;
    json_init(&json, out);
    json_object(&json);
    json_member_text(&json, "shape", facts->shape_text);
    json_member_text(&json, "dtype", facts->dtype);
    json_member_str(&json, "contract", contract_text(facts->contract));
    json_member_u64(&json, "case", (uint64_t)facts->view.which_case + 1);
    json_member_u64(&json, "logical_bytes", view_logical_bytes(&facts->view));
    json_member_u64(&json, "physical_bytes", facts->view.bank_bytes);
    json_member_u64(&json, "banks_used", facts->view.banks_used);
    json_member_u64(&json, "base_bytes", facts->view.base_bytes);
    write_strides(&json, &facts->view);
    write_address(&json, facts);
    json_end(&json);
}

static void print_level(const ViewLevel *level, Arena *arena, bool has_stride) {
    const char *name = arena_text(arena, "%c", dim_letter(level->dim));
    if (level->div > 1) {
        name = arena_text(arena, "%s/%" PRIu64, name, level->div);
    }
    if (level->mod > 0) {
        name = arena_text(arena, "%s%%%" PRIu64, name, level->mod);
    }
    printf("  %-10s %12s", name, cli_number(arena, level->extent));
    if (!has_stride) {
        puts("   selects the bank");
    } else if (level->stride_bits % 8 == 0) {
        printf("   stride %s bytes\n", cli_number(arena, level->stride_bits / 8));
    } else {
        printf("   stride %s bits\n", cli_number(arena, level->stride_bits));
    }
}

static void print_sizes(const Facts *facts) {
    const View *view = &facts->view;
    double reserved_bits = 8.0 * (double)view->bank_bytes * (double)view->banks_used;
    double padding = reserved_bits > 0 ? 100.0 * (1.0 - (double)view->logical_bits / reserved_bits) : 0;
    printf("logical    %s bytes\n", cli_number(facts->arena, view_logical_bytes(view)));
    printf("physical   %s bytes a bank, %s bank%s used\n", cli_number(facts->arena, view->bank_bytes),
           cli_number(facts->arena, view->banks_used), view->banks_used == 1 ? "" : "s");
    printf("padding    %.1f %%\n", padding);
}

static void print_report(const Facts *facts) {
    const View *view = &facts->view;
    Str contract = contract_text(facts->contract);
    printf("shape      %s %s\n", facts->shape_text, facts->dtype);
    printf("contract   " STR_FMT " (case %" PRIu32 ")\n", STR_ARG(contract), view->which_case + 1);
    print_sizes(facts);
    puts("\n  level            extent");
    for (uint32_t k = 0; k < view->bank_term_count; k++) {
        print_level(&view->bank_term[k], facts->arena, false);
    }
    for (uint32_t k = 0; k < view->level_count; k++) {
        print_level(&view->level[k], facts->arena, true);
    }
    putchar('\n');
    picture_print(view, stdout);
    if (facts->has_address) {
        printf("\naddress    bank %" PRIu64 ", byte %" PRIu64 ", bit %" PRIu32 "\n", facts->address.bank,
               facts->address.byte, facts->address.bit);
    }
}

static s0_status run_layout(Cli *cli, const void *data) {
    const Args *args = data;
    Work *work = &cli->work;
    uint32_t bits;
    uint64_t index[DIM_COUNT];
    const char *text = cli->operands.item[0];
    Facts facts = {.shape_text = text, .dtype = args->dtype == NULL ? "int8" : args->dtype, .arena = &work->keep};
    facts.has_address = args->address != NULL;
    if (!find_bits(work, facts.dtype, &bits) || !cli_parse_shape(work, text, bits, &facts.named) ||
        (facts.has_address && !cli_parse_index(work, args->address, &facts.named, index))) {
        return S0_BAD_INPUT;
    }
    facts.contract = find_contract(work, args);
    if (facts.contract == NULL || !resolve(work, text, &facts)) {
        return diags_status(&work->diags);
    }
    if (facts.has_address) {
        facts.address = view_address(&facts.view, index);
    }
    if (!cli->is_quiet && !cli_is_stdout(args->json)) {
        print_report(&facts);
    }
    return args->json == NULL || cli_write(cli, args->json, write_json, &facts) ? S0_DONE : S0_BAD_INPUT;
}

const CliCommand command_layout = {
    .name = "layout",
    .operands = "SHAPE",
    .fewest_operands = 1,
    .most_operands = 1,
    .summary = "how a shape is stored: sizes, strides, padding, addresses",
    .details = "SHAPE is 1x12x20x28 (N C H W), 12 (C), or names its dimensions: O16xI12xH3xW3.\n"
               "--address takes an index for each dimension in the same order.\n",
    .options = options,
    .args_bytes = sizeof(Args),
    .run = run_layout};
