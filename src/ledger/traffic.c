/* Traffic: bytes that steps move from one buffer to another, in logical bytes.
 *
 * A step that moves N bytes reads N and writes N; only where it repeats them (a row of a parameter expanded to a map)
 * does it write more than it reads. */
#include "ledger/traffic.h"

#include "base/checked.h"

#include <stdlib.h>

/* A sum that does not fit stays unknown. */
static void add_known(uint64_t *sum, uint64_t bytes) {
    if (*sum == UINT64_MAX || !checked_add(*sum, bytes, sum)) {
        *sum = UINT64_MAX;
    }
}

static void add_moved(Moved *sum, Moved moved) {
    add_known(&sum->read_bytes, moved.read_bytes);
    add_known(&sum->written_bytes, moved.written_bytes);
    sum->transfers += moved.transfers;
}

static uint64_t sum_logical(const Plan *plan, const BufferId *ids, uint32_t count) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        add_known(&sum, plan_buffer(plan, ids[i])->logical_bytes);
    }
    return sum;
}

Moved facts_step_moves(const Plan *plan, const Step *step) {
    if (!column_only_moves(step->column)) {
        return (Moved){0};
    }
    if (step->sweep != NOT_IN_SWEEP) {
        uint64_t read_bytes = step->column == COLUMN_FILL ? 0 : step->moved_bytes;
        return (Moved){read_bytes, step->moved_bytes, step->write_count * step->repeat};
    }
    Moved moved = {.read_bytes = sum_logical(plan, step->reads, step->read_count),
                   .written_bytes = sum_logical(plan, step->writes, step->write_count),
                   .transfers = step->write_count};
    if (step_makes_form(plan, step) && step->column == COLUMN_COPY) {
        moved.read_bytes = moved.written_bytes; /* as often as it is repeated */
    }
    if (moved.written_bytes < moved.read_bytes) {
        moved.read_bytes = moved.written_bytes; /* of a slice's source, only the slice is read */
    }
    if (moved.written_bytes == 0) {
        return (Moved){0};
    }
    return moved;
}

/* That a copy is no element-wise operator explains nothing. */
static bool explains(const Buffer *buffer) {
    return buffer->refused_alias != REFUSED_NONE && buffer->refused_alias != REFUSED_OPERATOR;
}

/* A view is refused to the output; the place in a concatenation is refused to its parts. */
static BufferId explain_copy(const Plan *plan, const Step *step) {
    if (explains(plan_buffer(plan, step->writes[0]))) {
        return step->writes[0];
    }
    for (uint32_t i = 0; i < step->read_count; i++) {
        if (explains(plan_buffer(plan, step->reads[i]))) {
            return step->reads[i];
        }
    }
    return NO_BUFFER;
}

static int by_written(const void *left, const void *right) {
    const Copy *a = left;
    const Copy *b = right;
    if (a->moved.written_bytes != b->moved.written_bytes) {
        return a->moved.written_bytes > b->moved.written_bytes ? -1 : 1;
    }
    return a->step < b->step ? -1 : a->step > b->step;
}

void traffic_gather(Facts *facts, Arena *keep) {
    const Plan *plan = facts->plan;
    Traffic *traffic = &facts->traffic;
    size_t capacity = 0;
    for (uint32_t s = 0; s < plan->step_count; s++) {
        const Step *step = &plan->steps[s];
        Moved moved = facts_step_moves(plan, step);
        add_moved(&traffic->by_column[step->column], moved);
        add_moved(&traffic->all, moved);
        if (step->column == COLUMN_COPY && moved.transfers > 0) {
            facts->copies = arena_grow(keep, facts->copies, facts->copy_count, &capacity, sizeof *facts->copies);
            facts->copies[facts->copy_count++] = (Copy){s, step->writes[0], explain_copy(plan, step), moved};
        }
    }
    traffic->param_bytes = traffic->by_column[COLUMN_LOAD_PARAM].written_bytes;
    if (facts->copy_count > 0) {
        qsort(facts->copies, facts->copy_count, sizeof *facts->copies, by_written);
    }
}
