/* The solver's picture of a problem: rectangles over sections, in units.
 *
 * A section is a set of rectangles of which no two may share a byte: those that live at one step, or that must lie
 * apart. Only sections that no other contains are kept. Rectangles stand in the order of their buffers,
 * which are sorted by all that they are: whatever is computed from their numbers is the same for every order of the
 * caller's buffers. Sizes, alignments and offsets are counted in the largest unit that measures them all. */
#ifndef S0_SOLVER_MODEL_H
#define S0_SOLVER_MODEL_H

#include "solver/solver.h"

typedef uint32_t Level; /* an offset or a height, units */

#define LEVEL_NONE UINT32_MAX

enum { MODEL_MOST_RECTS = 16384, MODEL_MOST_PLACES = 1 << 22, MODEL_MOST_MEETS = 1 << 25 };

/* Sections, half-open. */
typedef struct {
    uint32_t lo, hi;
} SectionRange;

typedef struct {
    Level size, align;
    Level pin;                 /* LEVEL_NONE: free */
    uint32_t lo, hi;           /* hull of its sections */
    const SectionRange *range; /* range_count, sorted, apart */
    uint32_t range_count, width;
    uint32_t twin; /* the one before it that is just alike, or itself */
} Rect;

typedef struct {
    Rect *rect;
    uint32_t count, section_count;
    uint32_t most_live, places; /* the largest section; the sum of widths */
    uint32_t pin_count;
    uint32_t *live, *live_at; /* of section s: live[live_at[s], live_at[s + 1]) */
    uint32_t *meet, *meet_at; /* of rectangle r, those that share a section with it: meet[meet_at[r], meet_at[r + 1]) */
    uint64_t unit_bytes;
    Level bound;    /* no placement is lower */
    Level most;     /* any placement that rests is lower */
    bool is_scaled; /* all figures fit a Level, and there are few enough to search */
} Model;

/* The sections of a rectangle, one after another. */
#define FOR_SECTIONS(rect, s)                                                                                          \
    for (const SectionRange *range_ = (rect)->range; range_ < (rect)->range + (rect)->range_count; range_++)           \
        for (uint32_t s = range_->lo; s < range_->hi; s++)

/* By all that two buffers can differ in. */
int model_compare(const SolverBuffer *a, const SolverBuffer *b);

/* Buffers sorted by model_compare. False where sizes do not fit 64 bits. Nothing is told of what is not scaled. */
bool model_init(Model *model, const SolverBuffer *buffer, size_t count, const SolverOptions *options, Arena *arena);

/* Do two share a section? */
bool model_meet(const Rect *a, const Rect *b);

static inline uint64_t at_most(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static inline Level level_align(Level level, Level align) {
    return align == 1 ? level : (level + align - 1) / align * align;
}

#endif
