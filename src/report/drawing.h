/* The drawing of time and address as cells, before it is printed. Private to the room.
 *
 *      address |A.......     a row is a range of addresses, the lowest first here, the highest on top when printed;
 *              |BBBBCCCC     a column is a range of steps; a cell has an owner: the storage that holds most of it
 *
 * Rows begin and end where storages do, those that hold most first, so that a cell of theirs is true for all its bytes;
 * what is tall is several rows. Geometry only: all sizes are the plan's. A storage smaller than a cell is still drawn
 * where no larger one is. */
#ifndef S0_REPORT_DRAWING_H
#define S0_REPORT_DRAWING_H

#include "report/page.h"

enum { DRAWING_MOST_LETTERS = 26 };

#define NOBODY UINT32_MAX

typedef struct {
    uint64_t *row; /* where each row begins, and where the last ends: row_count + 1 */
    uint32_t step_count;
    uint32_t row_count, column_count;
    uint32_t wide;   /* characters of one column */
    uint32_t *owner; /* row-major from the lowest address: index of a buffer, or NOBODY */
    double *held;    /* bytes * steps that the owner holds of the cell */
    uint32_t *cells; /* that each buffer owns */
    bool has_letters_for_all;
    char *letter; /* of each buffer; 0 where it has none of its own */
    uint32_t letter_count;
    uint32_t lettered[DRAWING_MOST_LETTERS]; /* 'A' + i -> buffer, in the order of the plan */
} Drawing;

/* Is buffer `i` drawn at all: is it a storage of local memory that has bytes? And how many are. */
bool drawing_has(const Plan *plan, uint32_t i);
uint32_t drawing_count(const Plan *plan);

/* As many columns as there are steps, or one a character of `room`. */
void drawing_make(const Page *page, uint32_t room, Drawing *drawing);

/* Steps [first, last) of a column: any two columns differ by one step at most. */
uint64_t drawing_first_step(const Drawing *drawing, uint64_t column);

static inline uint32_t drawing_owner(const Drawing *drawing, uint32_t row, uint32_t column) {
    return drawing->owner[(size_t)row * drawing->column_count + column];
}

#endif
