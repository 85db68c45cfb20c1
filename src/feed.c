/* Inputs into the simulated device, outputs out of it. */
#include "feed.h"

#include "base/clean.h"
#include "base/fault.h"
#include "base/nearest.h"
#include "cmd/wire.h"

#include <inttypes.h>

/* ---- Inputs */

static bool is_given(const Graph *graph, ValueId id) {
    return graph_value(graph, id)->constant == NULL;
}

/* A constant that callers may replace; null where none has this name. */
static Value *find_default(Graph *graph, Str name) {
    Value *found = NULL;
    for (uint32_t v = 0; v < graph->value_count; v++) {
        bool is_one = graph->values[v].is_default && str_eq(graph->values[v].name, name);
        found = is_one ? &graph->values[v] : found;
    }
    return found;
}

bool feed_replace(Graph *graph, const RunOptions *options, ModelFiles *files, Work *work) {
    for (size_t k = 0; k < options->input_count; k++) {
        Value *value = find_default(graph, options->inputs[k].name);
        if (value == NULL) {
            continue;
        }
        HostTensor tensor = {value->name, value->dtype, value->constant->stored};
        Const *given = arena_new(&work->keep, Const);
        *given = (Const){.stored = tensor.shape, .is_known = true};
        if (!host_read(&tensor, options->inputs[k].path, files, work, &given->bytes)) {
            return false;
        }
        value->constant = given;
    }
    return true;
}

/* "the inputs are 'a', 'b' and 3 more": of those whose elements a caller gives. */
static const char *list_names(const Graph *graph, const char *what, const ValueId *ids, uint32_t count, Arena *arena) {
    enum { MOST = 6 };
    const char *list = "";
    uint32_t found = 0;
    for (uint32_t k = 0; k < count; k++) {
        if (!is_given(graph, ids[k])) {
            continue;
        }
        if (found++ < MOST) {
            list = arena_text(arena, "%s%s'" STR_FMT "'", list, found == 1 ? "" : ", ",
                              STR_ARG(clean_text(arena, graph_value(graph, ids[k])->name)));
        }
    }
    if (found == 0) {
        return arena_text(arena, "the model has no %s", what);
    }
    const char *more = found > MOST ? arena_text(arena, " and %" PRIu32 " more", found - MOST) : "";
    return found == 1 ? arena_text(arena, "the %s is %s", what, list)
                      : arena_text(arena, "the %ss are %s%s", what, list, more);
}

/* Names that an option gives: each is one of these inputs or outputs, and none stands twice. */
typedef struct {
    const char *option, *what; /* "--input", "input" */
    const RunFile *files;
    size_t count;
    const ValueId *values;
    uint32_t value_count;
    bool takes_constants; /* an output may be one; an input with a value is none that is given */
} Named;

static bool check_name(const Graph *graph, const Named *named, size_t k, bool is_known, Work *work) {
    Arena *arena = work->diags.arena;
    Str name = named->files[k].name;
    Nearest nearest = {.typed = name};
    bool is_twice = false;
    for (uint32_t i = 0; i < named->value_count; i++) {
        Str own = graph_value(graph, named->values[i])->name;
        is_known = is_known || ((named->takes_constants || is_given(graph, named->values[i])) && str_eq(own, name));
        nearest_offer(&nearest, own);
    }
    for (size_t other = 0; other < k; other++) {
        is_twice = is_twice || str_eq(named->files[other].name, name);
    }
    if (is_known && !is_twice) {
        return true;
    }
    work->diags.file = NULL;
    const char *list = list_names(graph, named->what, named->values, named->value_count, arena);
    return diag_error(&work->diags,
                      (DiagText){.place = arena_text(arena, "option %s", named->option),
                                 .tensor = name,
                                 .what = is_twice ? arena_text(arena, "the %s is given twice", named->what)
                                                  : arena_text(arena, "no %s has this name", named->what),
                                 .hint = is_twice ? "give it once" : nearest_hint(arena, &nearest, list)});
}

/* An input with a default may be given too. */
static bool check_names(Graph *graph, const RunOptions *options, Work *work) {
    const Block *block = graph_main(graph);
    const Named named = {.option = "--input",
                         .what = "input",
                         .files = options->inputs,
                         .count = options->input_count,
                         .values = block->inputs,
                         .value_count = block->input_count};
    bool good = true;
    for (size_t k = 0; good && k < named.count; k++) {
        good = check_name(graph, &named, k, find_default(graph, named.files[k].name) != NULL, work);
    }
    return good;
}

static bool find_input(AuditTensor *input, const RunOptions *options, ModelFiles *files, Work *work) {
    for (size_t k = 0; k < options->input_count; k++) {
        if (str_eq(options->inputs[k].name, input->tensor.name)) {
            input->file = options->inputs[k].path;
        }
    }
    return input->file == NULL || host_read(&input->tensor, input->file, files, work, &input->packed);
}

bool feed_find(Graph *graph, const RunOptions *options, ModelFiles *files, Work *work, Audit *audit) {
    const Block *block = graph_main(graph);
    audit->inputs = arena_array(&work->keep, AuditTensor, block->input_count);
    audit->input_count = 0;
    if (!check_names(graph, options, work)) {
        return false;
    }
    for (uint32_t k = 0; k < block->input_count; k++) {
        if (!is_given(graph, block->inputs[k])) {
            continue;
        }
        AuditTensor *input = &audit->inputs[audit->input_count++];
        input->tensor = audit_tensor(graph, block->inputs[k]);
        if (!find_input(input, options, files, work)) {
            return false;
        }
    }
    return true;
}

void feed_draw(Audit *audit, Arena *keep) {
    for (uint32_t k = 0; k < audit->input_count; k++) {
        AuditTensor *input = &audit->inputs[k];
        input->packed = input->file == NULL ? host_seeded(&input->tensor, audit->seed, keep) : input->packed;
        input->crc32 = cmd_crc32(input->packed.ptr, input->packed.len);
    }
}

void feed_write(const BuiltProgram *built, const Graph *graph, const Audit *audit, Sim *sim) {
    for (uint32_t k = 0; k < built->input_count; k++) {
        Str name = graph_value(graph, built->inputs[k].value)->name;
        for (uint32_t i = 0; i < audit->input_count; i++) {
            if (str_eq(audit->inputs[i].tensor.name, name)) {
                CHECK(sim_write(sim, built->inputs[k].buffer, audit->inputs[i].packed));
            }
        }
    }
}

/* ---- Outputs */

static bool check_expected(const Graph *graph, const RunOptions *options, Work *work) {
    const Block *block = graph_main(graph);
    const Named named = {.option = "--expect",
                         .what = "output",
                         .files = options->expected,
                         .count = options->expected_count,
                         .values = block->outputs,
                         .value_count = block->output_count,
                         .takes_constants = true};
    bool good = true;
    for (size_t k = 0; good && k < named.count; k++) {
        good = check_name(graph, &named, k, false, work);
    }
    return good;
}

static bool find_expected(AuditTensor *output, const RunOptions *options, ModelFiles *files, Work *work) {
    for (size_t k = 0; k < options->expected_count; k++) {
        if (str_eq(options->expected[k].name, output->tensor.name)) {
            output->file = options->expected[k].path;
        }
    }
    return output->file == NULL || host_read(&output->tensor, output->file, files, work, &output->expected);
}

bool feed_expect(const Graph *graph, const RunOptions *options, ModelFiles *files, Work *work, Audit *audit) {
    const Block *block = graph_main(graph);
    audit->outputs = arena_array(&work->keep, AuditTensor, block->output_count);
    audit->output_count = block->output_count;
    if (!check_expected(graph, options, work)) {
        return false;
    }
    for (uint32_t k = 0; k < block->output_count; k++) {
        audit->outputs[k].tensor = audit_tensor(graph, block->outputs[k]);
        if (!find_expected(&audit->outputs[k], options, files, work)) {
            return false;
        }
    }
    return true;
}

static bool refuse_absent(const AuditTensor *output, Work *work) {
    work->diags.file = NULL;
    return diag_refuse(&work->diags, (DiagText){.place = "option --expect",
                                                .tensor = output->tensor.name,
                                                .what = "no command gives this output: it lies nowhere",
                                                .hint = "leave it out"});
}

/* The outputs that the device has are some of the graph's, in the same order. */
bool feed_read(const BuiltProgram *built, const Graph *graph, const Sim *sim, Work *work, Audit *audit) {
    const Block *block = graph_main(graph);
    uint32_t kept = 0;
    for (uint32_t k = 0; k < block->output_count; k++) {
        AuditTensor output = audit->outputs[k];
        bool is_there = kept < built->output_count && built->outputs[kept].value.index == block->outputs[k].index;
        if (!is_there && output.file != NULL) {
            return refuse_absent(&output, work);
        }
        if (!is_there) {
            continue;
        }
        output.packed = sim_read(sim, built->outputs[kept].buffer, &work->keep, &output.unwritten);
        output.crc32 = cmd_crc32(output.packed.ptr, output.packed.len);
        if (output.file != NULL) {
            output.difference = host_difference(&output.tensor, output.packed, output.expected, audit->tolerance);
        }
        audit->outputs[kept++] = output;
    }
    audit->output_count = kept;
    return true;
}
