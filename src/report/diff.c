/* The report of `stride0 diff`: a waterfall from A's peak to B's, and how it was found. */
#include "report/diff.h"

#include "report/text.h"

#include <inttypes.h>
#include <math.h>

enum { INDENT = 2, MOST_COLUMNS = 100, MOST_TENSORS = 12, MOST_OUTPUTS = 12 };

typedef struct {
    const Diff *diff;
    uint32_t columns;
    Arena *scratch;
    FILE *out;
} Report;

static Str change_text(const Report *r, int64_t bytes) {
    uint64_t magnitude = bytes < 0 ? (uint64_t)-bytes : (uint64_t)bytes;
    Str number = text_number(r->scratch, magnitude);
    return arena_format(r->scratch, "%s" STR_FMT, bytes < 0 ? "-" : bytes > 0 ? "+" : "", STR_ARG(number));
}

/* ---- Heads */

static void print_side(const Report *r, const char *letter, const Side *side) {
    const char *asked = "";
    for (const char *const *option = side->options; option != NULL && *option != NULL; option++) {
        asked = arena_text(r->scratch, "%s %s", asked, *option);
    }
    const char *from = side->plan_file == NULL ? "" : arena_text(r->scratch, "%s: ", side->plan_file);
    Str text = clean_text(
        r->scratch, arena_format(r->scratch, "%s%s on " STR_FMT "%s", from, side->file, STR_ARG(side->device), asked));
    Str line = text_clip(r->scratch, text, r->columns - 3);
    fprintf(r->out, "%s  " STR_FMT "\n", letter, STR_ARG(line));
}

/* ---- The waterfall */

static const char *cause_words(Cause cause, int64_t bytes) {
    static const char *const words[CAUSE_COUNT][3] = {
        [CAUSE_CONSTANTS] = {"constants fewer or smaller", "constants", "constants more or larger"},
        [CAUSE_MAPS] = {"tensors smaller", "shapes and dtypes", "tensors larger"},
        [CAUSE_FORM] = {"form of parameters changed", "form of parameters", "form of parameters changed"},
        [CAUSE_LAYOUT] = {"padding and layout changed", "padding and layout", "padding and layout changed"},
        [CAUSE_LIFETIME] = {"lifetimes shortened", "lifetimes", "lifetimes lengthened"},
        [CAUSE_ALIASES] = {"aliases gained", "aliases", "aliases lost"},
        [CAUSE_WORKSPACE] = {"workspace less", "workspace", "workspace more"},
        [CAUSE_TILES] = {"tiles changed", "tiles", "tiles changed"},
        [CAUSE_PACKING] = {"packing closer", "packing", "packing looser"},
    };
    return words[cause][bytes < 0 ? 0 : bytes == 0 ? 1 : 2];
}

enum { LABEL = 28, NUMBER = 16, LEAST_BAR = 20 };

typedef struct {
    int64_t low, high; /* of the whole drawing */
    uint32_t width;
} Scale;

static uint32_t place_of(const Scale *scale, int64_t value) {
    uint64_t range = (uint64_t)(scale->high - scale->low), at = (uint64_t)(value - scale->low);
    while (range >> 50 != 0) {
        range >>= 1;
        at >>= 1;
    }
    return range == 0 ? 0 : (uint32_t)((at * scale->width + range / 2) / range);
}

/* A bar from one value to another, at least one character long. */
static void print_row(const Report *r, const Scale *scale, const char *label, Str number, const int64_t span[2]) {
    fprintf(r->out, "%*s%-*s%*.*s", INDENT, "", LABEL, label, NUMBER, str_printed_bytes(number), number.ptr);
    if (span[0] != span[1]) {
        bool grows = span[0] < span[1];
        uint32_t start = place_of(scale, grows ? span[0] : span[1]), end = place_of(scale, grows ? span[1] : span[0]);
        start = start < scale->width ? start : scale->width - 1;
        end = end > start ? end : start + 1;
        fprintf(r->out, "  %*s", (int)start, "");
        for (uint32_t k = start; k < end; k++) {
            fputc(grows ? '+' : '-', r->out);
        }
    }
    fputc('\n', r->out);
}

static void print_peak(const Report *r, const Scale *scale, const char *label, uint64_t peak) {
    Str number = text_number(r->scratch, peak);
    fprintf(r->out, "%*s%-*s%*.*s", INDENT, "", LABEL, label, NUMBER, str_printed_bytes(number), number.ptr);
    uint32_t start = place_of(scale, 0), end = place_of(scale, (int64_t)peak);
    if (end > start) {
        fprintf(r->out, "  %*s", (int)start, "");
    }
    for (uint32_t k = start; k < end; k++) {
        fputc('#', r->out);
    }
    fputc('\n', r->out);
}

static Scale make_scale(const Report *r) {
    Scale scale = {.width = r->columns - INDENT - LABEL - NUMBER - 2};
    int64_t at = (int64_t)r->diff->a->peak_live_bytes;
    scale.high = at;
    for (Cause cause = 0; cause < CAUSE_PACKING; cause++) {
        at += r->diff->causes[cause];
        scale.low = at < scale.low ? at : scale.low;
        scale.high = at > scale.high ? at : scale.high;
    }
    return scale;
}

static void print_waterfall(const Report *r) {
    const Diff *diff = r->diff;
    const Scale scale = make_scale(r);
    int64_t at = (int64_t)diff->a->peak_live_bytes;
    Str change = change_text(r, diff->peak_live_bytes);
    fprintf(r->out, "\nwhy the peak changed: " STR_FMT " bytes\n", STR_ARG(change));
    print_peak(r, &scale, "A, peak alive", diff->a->peak_live_bytes);
    for (Cause cause = 0; cause < CAUSE_PACKING; cause++) {
        const int64_t bytes = diff->causes[cause], span[2] = {at, at + bytes};
        print_row(r, &scale, cause_words(cause, bytes), change_text(r, bytes), span);
        at += bytes;
    }
    print_peak(r, &scale, "B, peak alive", diff->b->peak_live_bytes);
}

/* A memory of both sides: what is needed of it, what there is, and whether that is enough. */
typedef struct {
    const char *label;  /* "flash" */
    const uint64_t *is; /* needed: A's, then B's */
    uint64_t of[2];     /* UINT64_MAX: no limit */
} Memory;

static void add_figures(const Report *r, Table *table, const char *label, const uint64_t *figures, int64_t change) {
    table_text(table, label);
    table_number(table, figures[0]);
    table_number(table, figures[1]);
    table_add(table, change_text(r, change));
}

static Str limit_text(const Report *r, uint64_t bytes) {
    return bytes == UINT64_MAX ? STR("no limit") : text_number(r->scratch, bytes);
}

static Str fits_text(const Report *r, uint64_t bytes, uint64_t most) {
    if (bytes <= most) {
        return STR("yes");
    }
    Str lacking = text_number(r->scratch, bytes - most);
    return arena_format(r->scratch, "lacks " STR_FMT, STR_ARG(lacking));
}

/* Below the bytes that are needed of it. */
static void add_memory(const Report *r, Table *table, const Memory *memory) {
    const uint64_t *of = memory->of;
    bool is_bounded = (of[0] | of[1]) >> 62 == 0; /* what is larger is as good as unbounded, and has no change */
    table_text(table, arena_text(r->scratch, "%s memory has", memory->label));
    table_add(table, limit_text(r, of[0]));
    table_add(table, limit_text(r, of[1]));
    table_add(table, is_bounded ? change_text(r, (int64_t)(of[1] - of[0])) : STR(""));
    table_text(table, arena_text(r->scratch, "fits %s memory", memory->label));
    table_add(table, fits_text(r, memory->is[0], of[0]));
    table_add(table, fits_text(r, memory->is[1], of[1]));
    table_text(table, "");
}

static const char *backing_name(const Report *r) {
    const Side *a = r->diff->a, *b = r->diff->b;
    return str_eq(a->backing, b->backing)
               ? arena_text(r->scratch, STR_FMT, STR_ARG(a->backing))
               : arena_text(r->scratch, STR_FMT ", " STR_FMT, STR_ARG(a->backing), STR_ARG(b->backing));
}

static uint64_t placed_in(const Side *side, Str memory) {
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < side->further_count; k++) {
        bytes = str_eq(side->further[k].name, memory) ? side->further[k].placed_bytes : bytes;
    }
    return bytes;
}

static bool has_further(const Side *side, Str memory) {
    bool has = false;
    for (uint32_t k = 0; k < side->further_count; k++) {
        has = has || str_eq(side->further[k].name, memory);
    }
    return has;
}

/* What further memories hold of each, where one of both lets something overflow into them. */
static void add_further(const Report *r, Table *table) {
    const Side *sides[] = {r->diff->a, r->diff->b};
    for (int s = 0; s < 2; s++) {
        for (uint32_t k = 0; k < sides[s]->further_count; k++) {
            const Str memory = sides[s]->further[k].name;
            const uint64_t there[] = {placed_in(sides[0], memory), placed_in(sides[1], memory)};
            if ((there[0] | there[1]) != 0 && (s == 0 || !has_further(sides[0], memory))) {
                Str name = clean_text(r->scratch, memory);
                add_figures(r, table, arena_text(r->scratch, "placed in " STR_FMT, STR_ARG(name)), there,
                            (int64_t)there[1] - (int64_t)there[0]);
            }
        }
    }
}

static void print_placed(const Report *r) {
    const Diff *diff = r->diff;
    const Side *a = diff->a, *b = diff->b;
    const uint64_t live[] = {a->peak_live_bytes, b->peak_live_bytes}, placed[] = {a->placed_bytes, b->placed_bytes};
    const uint64_t gap[] = {placed[0] - live[0], placed[1] - live[1]}, behind[] = {a->backing_bytes, b->backing_bytes};
    const char *backing = backing_name(r);
    Str change = change_text(r, diff->placed_bytes), behind_change = change_text(r, diff->backing_bytes);
    Table table;
    fprintf(r->out, "\nwhat must be reserved: " STR_FMT " bytes; of %s " STR_FMT "\n", STR_ARG(change), backing,
            STR_ARG(behind_change));
    table_init(&table, r->scratch, "lrrr");
    table_head(&table, (const char *const[]){"", "A", "B", "change"});
    add_figures(r, &table, "peak alive", live, diff->peak_live_bytes);
    add_figures(r, &table, cause_words(CAUSE_PACKING, diff->causes[CAUSE_PACKING]), gap, diff->causes[CAUSE_PACKING]);
    add_figures(r, &table, "placed", placed, diff->placed_bytes);
    add_memory(r, &table, &(const Memory){"local", placed, {a->capacity_bytes, b->capacity_bytes}});
    add_figures(r, &table, arena_text(r->scratch, "placed in %s", backing), behind, diff->backing_bytes);
    add_memory(r, &table, &(const Memory){backing, behind, {a->backing_capacity_bytes, b->backing_capacity_bytes}});
    add_further(r, &table);
    table_print(&table, INDENT, r->columns, r->out);
}

/* ---- How it was found */

/* A change, and a line for each of its causes, the first of them beside it. */
static void add_step(const Report *r, Table *table, const DiffStep *step) {
    uint32_t lines = 0;
    for (Cause cause = 0; cause < CAUSE_COUNT; cause++) {
        if (step->causes[cause] == 0) {
            continue;
        }
        bool is_first = lines++ == 0;
        table_text(table, is_first ? step->what : "");
        table_add(table, is_first ? text_number(r->scratch, step->peak_live_bytes) : STR(""));
        table_add(table, is_first ? text_number(r->scratch, step->placed_bytes) : STR(""));
        table_add(table, change_text(r, step->causes[cause]));
        table_text(table, cause_name(cause));
    }
    if (lines == 0) {
        table_text(table, step->what);
        table_number(table, step->peak_live_bytes);
        table_number(table, step->placed_bytes);
        table_text(table, "0");
        table_text(table, "");
    }
}

static void print_steps(const Report *r) {
    const Diff *diff = r->diff;
    Table table;
    fputs("\nhow: one change after the other, each planned again\n", r->out);
    table_init(&table, r->scratch, "nrrrs");
    table_head(&table, (const char *const[]){"change", "peak alive", "placed", "bytes", "cause"});
    for (uint32_t k = 0; k < diff->step_count; k++) {
        add_step(r, &table, &diff->steps[k]);
    }
    table_print(&table, INDENT, r->columns, r->out);
}

/* ---- Tensors and outputs */

/* Of what both sides have in one size, the bytes in local memory. */
static void add_tensor(Table *table, const DiffTensor *tensor) {
    bool is_other = !tensor->is_in_a || !tensor->is_in_b || tensor->a_bytes != tensor->b_bytes;
    bool has_a = is_other ? tensor->is_in_a : tensor->is_local_in_a;
    bool has_b = is_other ? tensor->is_in_b : tensor->is_local_in_b;
    table_text(table, !tensor->is_in_b        ? "gone"
                      : !tensor->is_in_a      ? "new"
                      : is_other              ? "other size"
                      : tensor->is_local_in_b ? "comes to local memory"
                                              : "leaves local memory");
    table_text(table, tensor->is_constant ? "constant" : tensor->is_workspace ? "workspace of" : "map");
    table_add(table, tensor->name);
    table_number(table, !has_a ? UINT64_MAX : is_other ? tensor->a_bytes : tensor->a_local_bytes);
    table_number(table, !has_b ? UINT64_MAX : is_other ? tensor->b_bytes : tensor->b_local_bytes);
}

static void print_tensors(const Report *r) {
    const Diff *diff = r->diff;
    Table table;
    if (diff->tensor_count == 0) {
        fputs("\nno constant and no temporary came, went or changed its size\n", r->out);
        return;
    }
    fputs("\nconstants and temporaries that came, went or changed their size\n", r->out);
    table_init(&table, r->scratch, "llnrr");
    table_head(&table, (const char *const[]){"", "", "tensor", "A", "B"});
    for (uint32_t k = 0; k < diff->tensor_count && k < MOST_TENSORS; k++) {
        add_tensor(&table, &diff->tensors[k]);
    }
    table_print(&table, INDENT, r->columns, r->out);
    if (diff->tensor_count > MOST_TENSORS) {
        fprintf(r->out, "  and %" PRIu32 " more: --json lists all\n", diff->tensor_count - MOST_TENSORS);
    }
}

/* "int8 [1,4], 0 to 0.996 by scale 0.00390625, zero point -128" */
static const char *output_text(const Report *r, const SideOutput *output) {
    if (output == NULL) {
        return "none";
    }
    const char *text = arena_text(r->scratch, STR_FMT " [", STR_ARG(output->dtype));
    for (uint32_t k = 0; k < output->shape.rank; k++) {
        text = arena_text(r->scratch, "%s%s%" PRId64, text, k == 0 ? "" : ",", output->shape.dim[k]);
    }
    if (!output->is_ranged) {
        return arena_text(r->scratch, "%s], range not known", text);
    }
    bool is_open = isinf(output->lo) && isinf(output->hi);
    text = is_open ? arena_text(r->scratch, "%s], not limited", text)
                   : arena_text(r->scratch, "%s], %g to %g", text, output->lo, output->hi);
    return isnan(output->scale)
               ? text
               : arena_text(r->scratch, "%s, scale %g, zero point %" PRId64, text, output->scale, output->zero_point);
}

static void print_outputs(const Report *r) {
    const Diff *diff = r->diff;
    Table table;
    fprintf(r->out, "\nwhat outputs can hold%s\n", diff->outputs_stay ? ": the same" : "");
    table_init(&table, r->scratch, "nll");
    table_head(&table, (const char *const[]){"output", "", "dtype, shape, range"});
    for (uint32_t k = 0; k < diff->output_count && k < MOST_OUTPUTS; k++) {
        const DiffOutput *output = &diff->outputs[k];
        bool is_one = output->is_same && output->is_known;
        table_add(&table, output->a == NULL ? output->b->name : output->a->name);
        table_text(&table, is_one ? "A, B" : "A");
        table_text(&table, output_text(r, output->a));
        if (!is_one) {
            table_text(&table, "");
            table_text(&table, "B");
            table_text(&table, output_text(r, output->b));
        }
    }
    table_print(&table, INDENT, r->columns, r->out);
    if (diff->output_count > MOST_OUTPUTS) {
        fprintf(r->out, "  and %" PRIu32 " more: --json lists all\n", diff->output_count - MOST_OUTPUTS);
    }
}

void report_diff(const Diff *diff, uint32_t columns, Arena *scratch, FILE *out) {
    const Report report = {diff, columns < MOST_COLUMNS ? columns : MOST_COLUMNS, scratch, out};
    print_side(&report, "A", diff->a);
    print_side(&report, "B", diff->b);
    print_waterfall(&report);
    print_placed(&report);
    print_steps(&report);
    print_tensors(&report);
    print_outputs(&report);
}
