/* A small picture of how a view fills memory: what `stride0 layout` prints under the sizes. */
#ifndef S0_LAYOUT_PICTURE_H
#define S0_LAYOUT_PICTURE_H

#include "layout/view.h"

#include <stdio.h>

/* Prints the start of bank 0 twice: as one row, and as a plane whose lines are as long as one step of a level. A cell
 * is a byte, or one element where several lie in a byte; its letter tells the channel of the element (a to z, and again
 * from a), '.' is padding. For a view without channels the letter tells O, else I. At most 100 columns and 40 lines;
 * what is left out is said. A view of no elements prints one line. */
void picture_print(const View *view, FILE *out);

#endif
