/* What the tests of cases share: graphs whose extents are letters, planned with all extents different and all equal.
 *
 * A rule that looked at a size would tell the two apart, or would take one axis for another where all are equal. */
#ifndef S0_TESTS_PLAN_CASES_H
#define S0_TESTS_PLAN_CASES_H

#include "planned.h"

#include <stdio.h>
#include <stdlib.h>

typedef enum { ALL_DIFFERENT, ALL_EQUAL, EXTENTS_COUNT } Extents;

/* A … H: the first eight primes, or 4 each. */
static inline int64_t case_extent(char letter, Extents extents) {
    static const int64_t primes[] = {2, 3, 5, 7, 11, 13, 17, 19};
    return extents == ALL_EQUAL ? 4 : primes[letter - 'A'];
}

/* "[1,B,C,D]" as a shape. */
static inline Shape case_shape(const char *letters, Extents extents) {
    Shape shape = {.rank = 0};
    for (const char *c = letters; *c != '\0'; c++) {
        bool is_letter = *c >= 'A' && *c <= 'H';
        if (is_letter || (*c >= '0' && *c <= '9')) {
            shape.dim[shape.rank++] = is_letter ? case_extent(*c, extents) : strtol(c, (char **)&c, 10);
            c -= is_letter ? 0 : 1;
        }
    }
    return shape;
}

/* The text with numbers for the letters inside [ ], and 1 2 3 … for each `ramp BC` (B times C elements), so that
 * nothing collapses. In `keep`. */
static inline const char *case_text(Arena *keep, const char *text, Extents extents) {
    char *all = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&all, &length);
    bool inside = false;
    fputs("stride0-graph 1\n", out);
    for (const char *c = text; *c != '\0'; c++) {
        inside = *c == '[' || (inside && *c != ']');
        if (strncmp(c, "ramp ", 5) == 0) {
            int64_t count = 1;
            for (c += 5; *c >= 'A' && *c <= 'H'; c++) {
                count *= case_extent(*c, extents);
            }
            for (int64_t i = 1; i <= count; i++) {
                fprintf(out, "%lld ", (long long)i);
            }
            c--;
        } else if (inside && *c >= 'A' && *c <= 'H') {
            fprintf(out, "%lld", (long long)case_extent(*c, extents));
        } else {
            fputc(*c, out);
        }
    }
    fclose(out);
    const char *kept = arena_str(keep, (Str){all, length}).ptr;
    free(all);
    return kept;
}

typedef struct {
    const char *text;     /* body of the graph, with letters */
    const char *device;   /* preset; teach by default */
    const char *contract; /* of activations, in place of the preset's; parameters are then dense */
    const char *layout;   /* "X=NHWC" */
    PlanOptions options;
    Extents extents;
} Case;

/* The preset with another contract, and room for anything. */
static inline const Device *case_device(const Case *c, Work *work) {
    Str name = str_from(c->device == NULL ? "teach" : c->device);
    char *all = NULL;
    size_t length = 0;
    if (c->contract == NULL) {
        return device_load(work, name);
    }
    FILE *out = open_memstream(&all, &length);
    for (size_t i = 0; i < device_preset_count; i++) {
        Str rest = str_from(str_eq(name, str_from(device_presets[i].name)) ? device_presets[i].text : "");
        while (rest.len > 0) {
            Str line = str_cut(&rest, '\n');
            bool is_map = line.len > 10 && memcmp(line.ptr, "activation", 10) == 0;
            bool is_parameter = line.len > 11 && memcmp(line.ptr, "parameter =", 11) == 0;
            if (is_map || is_parameter) {
                fprintf(out, "%.10s = %s @ the test\n", line.ptr, is_map ? c->contract : "N H W C");
            } else {
                fprintf(out, "%.*s\n", (int)line.len, line.ptr);
            }
        }
    }
    fclose(out);
    Str text = arena_str(&work->keep, (Str){all, length});
    free(all);
    return device_parse(work, text, STR("test.ini"));
}

static inline Plan *case_run(const Case *c, Work *work) {
    const char *text = case_text(&work->keep, c->text, c->extents);
    const PlanCase passes = {.graph = text, .layout = c->layout};
    Graph *graph = graph_parse_text(work, (Span){(const uint8_t *)text, strlen(text)}, STR("test"));
    const Device *device = case_device(c, work);
    if (graph == NULL || device == NULL || !planned_passes(graph, &passes, work)) {
        return NULL;
    }
    return plan_make(graph, device, &c->options, work);
}

/* False where it was refused; planned_free either way. */
static inline bool case_make(Planned *planned, const Case *c) {
    WORK_BEGIN(&planned->work);
    planned->plan = case_run(c, &planned->work);
    return planned->plan != NULL;
}

static inline void case_must_plan(Planned *planned, const Case *c) {
    if (!case_make(planned, c)) {
        diags_print(&planned->work.diags, "", stderr);
        fail_msg("refused:\n%s", c->text);
    }
}

/* Does some diagnostic say `text` in one of its parts? */
static inline bool case_was_told(const Planned *planned, const char *text) {
    char *all = messages_of(&planned->work);
    bool found = strstr(all, text) != NULL;
    if (!found) {
        print_error("\"%s\" is not in:\n%s", text, all);
    }
    free(all);
    return found;
}

/* The buffer of that tensor that `node` computes with; the first local one. */
static inline const Buffer *case_buffer_at(const Planned *planned, const char *node, const char *name) {
    const Plan *plan = planned->plan;
    for (uint32_t s = 0; s < plan->step_count; s++) {
        const Step *step = &plan->steps[s];
        if (!is_node(step->node) || !str_eq(graph_node(plan->graph, step->node)->name, str_from(node)) ||
            step->column == COLUMN_LOAD_PARAM || step->column == COLUMN_FILL || step_makes_form(plan, step)) {
            continue;
        }
        for (uint32_t i = 0; i < step->read_count + step->write_count; i++) {
            BufferId id = i < step->read_count ? step->reads[i] : step->writes[i - step->read_count];
            if (str_eq(graph_value(plan->graph, plan_buffer(plan, id)->value)->name, str_from(name))) {
                return plan_buffer(plan, id);
            }
        }
    }
    fail_msg("'%s' neither reads nor writes '%s'", node, name);
    return NULL;
}

/* Of constants in flash or far memory: elements times bits, rounded up to bytes once. */
static inline uint64_t case_constant_bytes(const Plan *plan) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *buffer = &plan->buffers[i];
        bool is_constant = is_value(buffer->value) && graph_value(plan->graph, buffer->value)->constant != NULL;
        sum += is_constant && buffer->memory == plan->device->backing ? buffer->logical_bytes : 0;
    }
    return sum;
}

#endif
