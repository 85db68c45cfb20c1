/* How often each value of each axis was really executed, over the cases that passed. A value that never was is a hole
 * of the generator.
 *
 * Whoever includes this has defined COVERAGE_AXES(AXIS): a row AXIS(id, what it is, names of its values) for each. */
#ifndef S0_TESTS_PROGRAM_COVER_H
#define S0_TESTS_PROGRAM_COVER_H

#include "support/work.h"

typedef enum {
#define COVERAGE_ID(id, what, ...) COVER_##id,
    COVERAGE_AXES(COVERAGE_ID)
#undef COVERAGE_ID
        COVER_AXES
} CoverAxis;

enum { COVER_MOST_VALUES = 16 };

typedef struct {
    const char *what;
    const char *value[COVER_MOST_VALUES]; /* the first that is null ends them */
} CoverNames;

static const CoverNames cover_names[COVER_AXES] = {
#define COVERAGE_NAMES(id, what, ...) {what, {__VA_ARGS__}},
    COVERAGE_AXES(COVERAGE_NAMES)
#undef COVERAGE_NAMES
};

typedef struct {
    uint64_t count[COVER_AXES][COVER_MOST_VALUES];
} Coverage;

static inline void cover(Coverage *coverage, CoverAxis axis, uint32_t value) {
    assert_true(value < COVER_MOST_VALUES && cover_names[axis].value[value] != NULL);
    coverage->count[axis][value]++;
}

static inline void cover_if(Coverage *coverage, CoverAxis axis, uint32_t value, bool holds) {
    if (holds) {
        cover(coverage, axis, value);
    }
}

static inline void cover_name(Coverage *coverage, CoverAxis axis, const char *name) {
    uint32_t value = 0;
    while (cover_names[axis].value[value] != NULL && strcmp(cover_names[axis].value[value], name) != 0) {
        value++;
    }
    cover(coverage, axis, value);
}

/* ---- The table */

/* Returns how many values were never executed. */
static inline uint32_t cover_print(const Coverage *coverage) {
    uint32_t holes = 0;
    for (uint32_t axis = 0; axis < COVER_AXES; axis++) {
        print_message("%26s:", cover_names[axis].what);
        for (uint32_t k = 0; cover_names[axis].value[k] != NULL; k++) {
            print_message("%s %s %llu", k == 0 ? "" : ",", cover_names[axis].value[k],
                          (unsigned long long)coverage->count[axis][k]);
            holes += coverage->count[axis][k] == 0;
        }
        print_message("\n");
    }
    return holes;
}

#endif
