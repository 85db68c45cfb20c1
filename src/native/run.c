/* A walk cut into equal shares, one a thread.
 *
 * Shares are cut between rows, or, where there are few and all their elements have one channel, between columns. */
#include "native/native.h"

/* Less is done by one thread before another is awake. */
static const uint64_t ALONE_BYTES = UINT64_C(256) << 10;

/* Rows a thread, from which on the shares are equal enough. */
enum { ROWS_A_THREAD = 16 };

/* Cuts between columns are whole vectors and whole bytes. */
enum { COLUMNS_A_STEP = 64 };

typedef struct {
    const Native *native;
    const uint8_t *x;
    uint8_t *y;
    uint8_t *scratch;
    int streams;
} Run;

static uint64_t share(uint64_t whole, uint32_t worker, uint32_t count) {
    return whole / count * worker + whole % count * worker / count;
}

/* The rows of a matrix from `first` on, up to `end`; of all columns from `column` on up to `column_end`. */
typedef struct {
    uint64_t first, end, column, column_end;
} Part;

static void run_part(const Run *run, const WalkMatrix *matrix, Part part, void *scratch) {
    const Native *native = run->native;
    uint64_t rows = part.end < matrix->rows ? part.end : matrix->rows;
    uint64_t columns = part.column_end < matrix->columns ? part.column_end : matrix->columns;
    if (part.first >= rows || part.column >= columns) {
        return;
    }
    uint64_t pitch = native->walk.row.stride_bytes;
    uint64_t offset = matrix->offset_bytes + part.first * pitch + part.column * native->bits / 8;
    S0Rows given = {.x = run->x + offset,
                    .y = run->y + offset,
                    .rows = (size_t)(rows - part.first),
                    .columns = (size_t)(columns - part.column),
                    .x_pitch_bytes = (size_t)pitch,
                    .y_pitch_bytes = (size_t)pitch,
                    .streams = run->streams};
    native->matrix(native, &given, matrix->channel, scratch);
}

static void run_columns(const Run *run, uint32_t worker, uint32_t count, void *scratch) {
    const Walk *walk = &run->native->walk;
    uint64_t steps = walk->column.extent / COLUMNS_A_STEP;
    Part part = {.first = 0,
                 .end = walk->row.extent,
                 .column = share(steps, worker, count) * COLUMNS_A_STEP,
                 .column_end =
                     worker + 1 == count ? walk->column.extent : share(steps, worker + 1, count) * COLUMNS_A_STEP};
    WalkPlace place;
    walk_begin(walk, 0, &place);
    for (uint64_t k = 0; k < walk->matrix_count; k++) {
        run_part(run, &place.matrix, part, scratch);
        walk_next(walk, &place);
    }
}

static void run_rows(const Run *run, uint32_t worker, uint32_t count, void *scratch) {
    const Walk *walk = &run->native->walk;
    uint64_t height = walk->row.extent;
    uint64_t row = share(walk->matrix_count * height, worker, count);
    uint64_t end = share(walk->matrix_count * height, worker + 1, count);
    if (row == end) {
        return;
    }
    WalkPlace place;
    walk_begin(walk, row / height, &place);
    Part part = {.first = row % height, .column = 0, .column_end = UINT64_MAX};
    while (row < end) {
        part.end = height - part.first < end - row ? height : part.first + (end - row);
        run_part(run, &place.matrix, part, scratch);
        row += part.end - part.first;
        part.first = 0;
        walk_next(walk, &place);
    }
}

static void run_share(const void *context, uint32_t worker, uint32_t count) {
    const Run *run = context;
    const Walk *walk = &run->native->walk;
    void *scratch = run->native->scratch_bytes == 0 ? NULL : run->scratch + worker * run->native->scratch_bytes;
    bool is_few = walk->matrix_count * walk->row.extent < (uint64_t)count * ROWS_A_THREAD;
    if (count > 1 && is_few && !walk->is_channel_last) {
        run_columns(run, worker, count, scratch);
    } else {
        run_rows(run, worker, count, scratch);
    }
}

void native_run(const Native *native, const void *x, void *y, void *scratch, uint32_t threads) {
    Run run = {.native = native,
               .x = x,
               .y = y,
               .scratch = scratch,
               .streams = x != y && native->map_bytes > native->cache_bytes / 2};
    if (threads <= 1 || native->pool == NULL || native->map_bytes < ALONE_BYTES) {
        run_share(&run, 0, 1);
    } else {
        pool_run(native->pool, run_share, &run, threads);
    }
}
