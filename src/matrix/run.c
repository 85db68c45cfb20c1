/* Runs cells on threads: each takes the next cell that nobody has, and has memory of its own. */
#include "matrix/run.h"

#include <pthread.h>
#include <string.h>

enum { WHY_BYTES = 512 };

typedef struct {
    const MatrixOptions *options;
    const s0_allocator *allocator;
    Matrix *matrix;
    pthread_mutex_t mutex; /* of all that follows */
    uint32_t next, done;
    uint32_t failed; /* the first cell in order that could not be measured; count: none */
    char why[WHY_BYTES];
} Crew;

const char *matrix_title(const MatrixCell *cell, Arena *arena) {
    const char *title = "";
    for (MatrixAxis k = 0; k < MATRIX_AXES; k++) {
        title = arena_text(arena, "%s%s%s", title, k == 0 ? "" : " ", matrix_word(cell, k));
    }
    return title;
}

/* ---- One thread */

/* The next cell; false at the end. */
static bool take(Crew *crew, uint32_t *at) {
    pthread_mutex_lock(&crew->mutex);
    *at = crew->next;
    bool more = *at < crew->matrix->count && crew->failed == crew->matrix->count;
    crew->next += more;
    pthread_mutex_unlock(&crew->mutex);
    return more;
}

static void finish(Crew *crew, uint32_t at, const char *why) {
    const MatrixOptions *options = crew->options;
    pthread_mutex_lock(&crew->mutex);
    crew->done++;
    if (why != NULL && at < crew->failed) {
        crew->failed = at;
        strncpy(crew->why, why, WHY_BYTES - 1);
    }
    if (options->progress != NULL) {
        options->progress(options->context, crew->done, crew->matrix->count);
    }
    pthread_mutex_unlock(&crew->mutex);
}

/* Cells are measured in memory of their own: nothing stays but the row. */
static void measure(Crew *crew, uint32_t at) {
    const MatrixCell cell = matrix_cell(crew->matrix->number[at]);
    Work work;
    work_init(&work, crew->allocator);
    if (setjmp(work.escape) != 0) {
        finish(crew, at, "out of memory");
    } else if (matrix_measure(&cell, &work, &crew->matrix->row[at])) {
        finish(crew, at, NULL);
    } else {
        const Diag *last = work.diags.last;
        finish(crew, at, last == NULL ? "refused without a word" : last->text.what);
    }
    work_free(&work);
}

static void *work_through(void *context) {
    Crew *crew = context;
    for (uint32_t at; take(crew, &at);) {
        measure(crew, at);
    }
    return NULL;
}

/* ---- All threads */

/* Where the machine gives fewer threads than were asked for, those do the work. */
static void run_crew(Crew *crew) {
    pthread_t threads[MATRIX_MOST_JOBS];
    uint32_t started = 0;
    while (started + 1 < crew->options->jobs && started < MATRIX_MOST_JOBS &&
           pthread_create(&threads[started], NULL, work_through, crew) == 0) {
        started++;
    }
    work_through(crew);
    for (uint32_t k = 0; k < started; k++) {
        pthread_join(threads[k], NULL);
    }
}

static void list_cells(const MatrixOptions *options, Arena *keep, Matrix *matrix) {
    uint32_t *numbers = arena_array(keep, uint32_t, matrix_cell_count());
    *matrix = (Matrix){.is_all = options->is_all, .number = numbers, .base = matrix_base(&options->filter)};
    for (uint32_t number = 0; number < matrix_cell_count(); number++) {
        const MatrixCell cell = matrix_cell(number);
        if ((options->is_all || matrix_in_pairs(number)) && matrix_filter_takes(&options->filter, &cell)) {
            bool is_left_out = matrix_left_out(&cell) != NULL;
            matrix->left_out += is_left_out;
            numbers[matrix->count] = number;
            matrix->count += !is_left_out;
        }
    }
    matrix->row = arena_array(keep, MatrixRow, matrix->count);
}

bool matrix_run(const MatrixOptions *options, Work *work, Matrix *matrix) {
    list_cells(options, &work->keep, matrix);
    if (matrix->count == 0) {
        return diag_error(&work->diags, (DiagText){.place = "option --filter",
                                                   .what = "no cell has these values",
                                                   .hint = "values of one axis stand in one filter: dtype=int8,int16"});
    }
    Crew crew = {.options = options, .allocator = work->keep.allocator, .matrix = matrix, .failed = matrix->count};
    pthread_mutex_init(&crew.mutex, NULL);
    run_crew(&crew);
    pthread_mutex_destroy(&crew.mutex);
    for (uint32_t k = 0; k < matrix->count; k++) {
        matrix->equal_count += matrix->row[k].is_equal;
    }
    if (crew.failed == matrix->count) {
        return true;
    }
    const MatrixCell cell = matrix_cell(matrix->number[crew.failed]);
    return diag_error(&work->diags, (DiagText){.place = matrix_title(&cell, &work->keep),
                                               .what = "the cell can't be measured",
                                               .got = arena_text(&work->keep, "%s", crew.why)});
}
