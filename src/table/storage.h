/* Storages: rows of a table that must share their bytes are one buffer to the solver: as large as the largest, aligned
 * for all, live where one of them is, where the one that is pinned has to be. */
#ifndef S0_TABLE_STORAGE_H
#define S0_TABLE_STORAGE_H

#include "table/table.h"

typedef struct {
    SolverBuffer *buffer;
    uint32_t *memory; /* of each: a name of the table; 0 where it may be anywhere */
    size_t *row;      /* of each, the first */
    size_t count;
    size_t *of_row; /* the storage of each row */
} Storages;

/* False with diagnostics: rows of one storage that contradict each other. */
bool storages_make(const Table *table, Work *work, Storages *storages);

#endif
