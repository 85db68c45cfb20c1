/* `stride0 pack`: what is asked, what came of it, and how it is told. */
#ifndef S0_CLI_PACK_H
#define S0_CLI_PACK_H

#include "banks/banks.h"
#include "cli/cli.h"
#include "table/storage.h"

typedef struct {
    const char *capacity, *align, *device, *threads, *nodes, *time_limit, *json, *output;
    Texts memories, without;
    bool minimise, progress;
} PackArgs;

typedef struct {
    Str name; /* empty where the only memory has none */
    Bank bank;
} PackMemory;

/* A question with its answer. */
typedef struct {
    const char *file; /* as given */
    Table table;
    Storages storages;
    uint64_t capacity, unit; /* --capacity, --align */
    PackMemory *memory;
    uint32_t memory_count;
    bool has_names; /* memories are told apart in what is written */
    BanksProblem problem;
    BanksResult result;
    double seconds;
    Arena *arena;
} Pack;

/* What the options ask for, of whatever table. False with diagnostics. */
bool pack_read_options(Work *work, const PackArgs *args, Pack *pack);

/* The question that options and table make. False with diagnostics. */
bool pack_ask(Work *work, Pack *pack);

/* The memory that a storage is in. */
const PackMemory *pack_memory_of(const Pack *pack, size_t storage);

typedef enum { PACK_OPTIMAL, PACK_FEASIBLE, PACK_INFEASIBLE, PACK_UNKNOWN } PackStatus;

PackStatus pack_status(const Pack *pack);
const char *pack_status_name(PackStatus status);

enum { PACK_SEVERAL = INT32_MAX };

/* Of what is infeasible: the memory in which the buffers to blame have to be; PACK_SEVERAL where they have a choice. */
uint32_t pack_misfit_memory(const Pack *pack);

/* What that memory needs at least; 0 where no size would do. */
uint64_t pack_misfit_need(const Pack *pack, uint32_t memory);

void pack_print(const Pack *pack, FILE *out);           /* the report of an answer */
void pack_print_misfit(const Pack *pack, FILE *errors); /* why there is none */
void pack_print_json(FILE *out, const void *pack);

#endif
