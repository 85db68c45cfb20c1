/* What a run is given: the inputs by the user's files or by chance, and what is expected of the outputs. */
#ifndef S0_FEED_H
#define S0_FEED_H

#include "ledger/audit.h"
#include "stages.h"

/* Puts what the user gives in the place of initializers that are inputs too. Before anything is computed of them. False
 * with a diagnostic. */
bool feed_replace(Graph *graph, const RunOptions *options, ModelFiles *files, Work *work);

/* Finds the elements of every input of the main block, in its order. False with a diagnostic: a name that is no input,
 * a file that does not hold it. */
bool feed_find(Graph *graph, const RunOptions *options, ModelFiles *files, Work *work, Audit *audit);

/* Draws the elements of those that have no file. They may be many: not before it is known that the program runs. */
void feed_draw(Audit *audit, Arena *keep);

/* The same of the outputs of the main block: what is expected of those that have a file. */
bool feed_expect(const Graph *graph, const RunOptions *options, ModelFiles *files, Work *work, Audit *audit);

/* Gives the inputs to the device. */
void feed_write(const BuiltProgram *built, const Graph *graph, const Audit *audit, Sim *sim);

/* Takes the outputs from it, and compares them with what is expected. False with a diagnostic where it has none of that
 * name. */
bool feed_read(const BuiltProgram *built, const Graph *graph, const Sim *sim, Work *work, Audit *audit);

#endif
