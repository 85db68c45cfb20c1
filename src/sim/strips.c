/* Joins what is contiguous in one or two operands, and goes through it run by run. See walk.h. */
#include "sim/walk.h"

#include <string.h>

typedef struct {
    const Walk *walk;
    uint32_t view[STRIP_VIEWS], count;
} Chosen;

static bool joins_run(const Chosen *chosen, const Strip *strip, const WalkDigit *digit) {
    bool joins = strip->loop_count == 0;
    for (uint32_t k = 0; k < chosen->count; k++) {
        WalkPoint step = digit->step[chosen->view[k]];
        joins = joins && step.lane == 0 && step.bit == strip->run * chosen->walk->operand[chosen->view[k]].bits;
    }
    return joins;
}

static bool joins_loop(const Chosen *chosen, const StripLoop *loop, const WalkDigit *digit) {
    bool joins = true;
    for (uint32_t k = 0; k < chosen->count; k++) {
        WalkPoint step = digit->step[chosen->view[k]];
        joins = joins && step.lane == loop->extent * loop->step[k].lane && step.bit == loop->extent * loop->step[k].bit;
    }
    return joins;
}

static void add_loop(const Chosen *chosen, Strip *strip, const WalkDigit *digit) {
    if (joins_run(chosen, strip, digit)) {
        strip->run *= digit->extent;
        return;
    }
    if (strip->loop_count > 0 && joins_loop(chosen, &strip->loop[strip->loop_count - 1], digit)) {
        strip->loop[strip->loop_count - 1].extent *= digit->extent;
        return;
    }
    StripLoop *loop = &strip->loop[strip->loop_count++];
    loop->extent = digit->extent;
    for (uint32_t k = 0; k < chosen->count; k++) {
        loop->step[k] = digit->step[chosen->view[k]];
    }
}

Strips walk_strips(const Walk *walk, uint32_t first, uint32_t second, Frame *frame) {
    Chosen chosen = {walk, {first, second}, first == second ? 1 : 2};
    Strips strips = {chosen.count, walk->cell_count, frame_array(frame, Strip, walk->cell_count)};
    for (size_t c = 0; c < walk->cell_count; c++) {
        const WalkCell *cell = &walk->cell[c];
        Strip *strip = &strips.strip[c];
        *strip = (Strip){.run = 1, .loop = frame_array(frame, StripLoop, cell->digit_count)};
        for (uint32_t k = 0; k < chosen.count; k++) {
            strip->start[k] = cell->start[chosen.view[k]];
        }
        for (uint32_t k = cell->digit_count; k-- > 0;) {
            add_loop(&chosen, strip, &cell->digit[k]);
        }
    }
    return strips;
}

/* ---- Cursors */

static void enter_strip(Cursor *cursor) {
    for (uint32_t k = 0; k < cursor->view_count; k++) {
        cursor->at[k].lane = cursor->base[k].lane + cursor->strip->start[k].lane;
        cursor->at[k].bit = cursor->base[k].bit + cursor->strip->start[k].bit;
    }
    cursor->run = cursor->strip->run;
    memset(cursor->turn, 0, cursor->strip->loop_count * sizeof cursor->turn[0]);
}

bool cursor_start(Cursor *cursor, const Strips *strips, const WalkPoint *base) {
    cursor->strip = strips->strip;
    cursor->end = strips->strip + strips->count;
    cursor->view_count = strips->view_count;
    memcpy(cursor->base, base, strips->view_count * sizeof *base);
    if (strips->count == 0) {
        return false;
    }
    enter_strip(cursor);
    return true;
}

static inline void move(Cursor *cursor, const StripLoop *loop, uint64_t times) {
    for (uint32_t k = 0; k < cursor->view_count; k++) {
        cursor->at[k].lane += loop->step[k].lane * times;
        cursor->at[k].bit += loop->step[k].bit * times;
    }
}

bool cursor_next(Cursor *cursor) {
    for (uint32_t k = 0; k < cursor->strip->loop_count; k++) {
        const StripLoop *loop = &cursor->strip->loop[k];
        if (++cursor->turn[k] < loop->extent) {
            move(cursor, loop, 1);
            return true;
        }
        cursor->turn[k] = 0;
        move(cursor, loop, 0 - (loop->extent - 1)); /* back, modulo 2^64 */
    }
    if (++cursor->strip == cursor->end) {
        return false;
    }
    enter_strip(cursor);
    return true;
}
