/* A walk cut into equal shares, some for each thread.
 *
 * Shares are cut between planes, or the rows of single ones; where these are few and have one channel, between columns.
 */
#include "native/bounce.h"

/* Less is done by one thread before another is awake. */
static const uint64_t ALONE_BYTES = UINT64_C(256) << 10;

/* Planes or rows a share, from which on the shares are equal enough. */
enum { UNITS_A_SHARE = 4 };

/* Cuts between columns are whole vectors and whole bytes. */
enum { COLUMNS_A_STEP = 64 };

typedef struct {
    const Native *native;
    const uint8_t *x;
    uint8_t *y;
    int streams;
} Run;

/* The ends at once: the divisions take as long as a small map. */
static uint64_t share(uint64_t whole, uint32_t part, uint32_t parts) {
    return part == 0 ? 0 : part == parts ? whole : whole / parts * part + whole % parts * part / parts;
}

/* Of each plane the rows and columns, and of the planes those, from the first ones to the ends. */
typedef struct {
    uint64_t plane, plane_end, row, row_end, column, column_end;
} Part;

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static void run_part(const Run *run, const WalkStack *stack, const Part *part) {
    const Native *native = run->native;
    const Walk *walk = &native->walk;
    uint64_t rows = least(part->row_end, stack->rows), columns = least(part->column_end, stack->columns);
    if (part->row >= rows || part->column >= columns) {
        return;
    }
    uint64_t bit = stack->offset_bits + part->plane * walk->plane.stride_bits + part->row * walk->row.stride_bits +
                   part->column * native->bits;
    size_t pitch = (size_t)(walk->row.stride_bits / 8);
    NativeStack given = {.rows = {.x = run->x + bit / 8,
                                  .y = run->y + bit / 8,
                                  .rows = (size_t)(rows - part->row),
                                  .columns = (size_t)(columns - part->column),
                                  .x_pitch_bytes = pitch,
                                  .y_pitch_bytes = pitch,
                                  .streams = run->streams},
                         .channel = stack->channel + part->plane,
                         .planes = part->plane_end - part->plane,
                         .plane_bytes = walk->plane.stride_bits / 8};
    if (walk->is_aligned) {
        native->run(native, &given);
    } else {
        BounceBits bits = {run->x, run->y, bit, walk->row.stride_bits, walk->plane.stride_bits};
        bounce_run(native, &given, &bits);
    }
}

static Part whole_part(const Walk *walk) {
    return (Part){.plane_end = walk->plane.extent, .row_end = walk->row.extent, .column_end = walk->column.extent};
}

static void run_columns(const Run *run, uint32_t part, uint32_t parts) {
    const Walk *walk = &run->native->walk;
    uint64_t steps = walk->column.extent / COLUMNS_A_STEP;
    Part some = whole_part(walk);
    some.column = share(steps, part, parts) * COLUMNS_A_STEP;
    if (part + 1 < parts) {
        some.column_end = share(steps, part + 1, parts) * COLUMNS_A_STEP;
    }
    WalkPlace place;
    walk_begin(walk, 0, &place);
    for (uint64_t k = 0; k < walk->stack_count; k++) {
        run_part(run, &place.stack, &some);
        walk_next(walk, &place);
    }
}

/* What a share is counted in: planes, or the rows of a single one. */
static uint64_t units_of(const Walk *walk) {
    return walk->plane.extent > 1 ? walk->plane.extent : walk->row.extent;
}

static void run_units(const Run *run, uint32_t part, uint32_t parts) {
    const Walk *walk = &run->native->walk;
    uint64_t units = units_of(walk);
    uint64_t unit = share(walk->stack_count * units, part, parts);
    uint64_t end = share(walk->stack_count * units, part + 1, parts);
    if (unit == end) {
        return;
    }
    Part some = whole_part(walk);
    uint64_t *first = walk->plane.extent > 1 ? &some.plane : &some.row;
    uint64_t *last = walk->plane.extent > 1 ? &some.plane_end : &some.row_end;
    WalkPlace place;
    walk_begin(walk, unit / units, &place);
    for (*first = unit % units; unit < end; *first = 0) {
        *last = least(units, *first + (end - unit));
        run_part(run, &place.stack, &some);
        unit += *last - *first;
        walk_next(walk, &place);
    }
}

static void run_share(const void *context, uint32_t part, uint32_t parts) {
    const Run *run = context;
    const Walk *walk = &run->native->walk;
    bool is_few = walk->stack_count * units_of(walk) < (uint64_t)parts * UNITS_A_SHARE;
    if (parts > 1 && is_few && !walk->is_channel_last) {
        run_columns(run, part, parts);
    } else {
        run_units(run, part, parts);
    }
}

/* Rows that begin inside bytes may share them with rows of another share. */
static bool is_alone(const Native *native, uint32_t threads) {
    return threads <= 1 || native->pool == NULL || native->map_bytes < ALONE_BYTES || !native->walk.is_aligned;
}

/* Small maps take some nanoseconds: what is the same on each call is prepared. */
static void prepare_whole(Native *native) {
    const Walk *walk = &native->walk;
    WalkPlace place;
    if (walk->stack_count != 1 || !walk->is_aligned) {
        return;
    }
    walk_begin(walk, 0, &place);
    size_t pitch = (size_t)(walk->row.stride_bits / 8);
    native->is_one_stack = place.stack.rows > 0 && place.stack.columns > 0;
    native->whole_begin_bytes = (size_t)(place.stack.offset_bits / 8);
    native->whole = (NativeStack){.rows = {.rows = (size_t)place.stack.rows,
                                           .columns = (size_t)place.stack.columns,
                                           .x_pitch_bytes = pitch,
                                           .y_pitch_bytes = pitch},
                                  .channel = place.stack.channel,
                                  .planes = walk->plane.extent,
                                  .plane_bytes = walk->plane.stride_bits / 8};
}

void native_lay_out(Native *native, const View *view, uint64_t align_bytes) {
    native->bits = view->shape.bits;
    native->map_bytes = view->bank_bytes;
    walk_init(view, align_bytes, &native->walk);
    wide_find(&native->walk, native->bits, native->kernels->vector_bytes, &native->wide);
    prepare_whole(native);
}

static void run_whole(const Native *native, const uint8_t *x, uint8_t *y, int streams) {
    NativeStack whole = native->whole;
    whole.rows.x = x + native->whole_begin_bytes;
    whole.rows.y = y + native->whole_begin_bytes;
    whole.rows.streams = streams;
    native->run(native, &whole);
}

void native_run(const Native *native, const void *x, void *y, uint32_t threads) {
    Run run = {.native = native, .x = x, .y = y, .streams = x != y && native->map_bytes > native->cache_bytes / 2};
    if (!is_alone(native, threads)) {
        pool_run(native->pool, run_share, &run, threads);
    } else if (native->is_one_stack) {
        run_whole(native, run.x, run.y, run.streams);
    } else {
        run_share(&run, 0, 1);
    }
}
