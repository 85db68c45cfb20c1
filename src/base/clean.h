/* Text from a file, made harmless for people: whoever wrote the file must not steer a terminal, start a line of their
 * own or turn the order of what is read. Control characters, what is no UTF-8, separators of lines and marks that
 * change the direction of writing become '?'. */
#ifndef S0_BASE_CLEAN_H
#define S0_BASE_CLEAN_H

#include "base/arena.h"

#include <stdio.h>

/* Bytes of the character that `text`, which is not empty, starts with: 1 where none is well-formed. */
size_t clean_character(Str text, bool *is_harmless);

Str clean_text(Arena *arena, Str text);
void clean_print(Str text, FILE *out); /* allocates nothing */

#endif
