/* `stride0 pack FILE`: live ranges packed into one memory or several, to the limit. */
#include "cli/pack.h"

#include "base/clean.h"
#include "base/fault.h"
#include "place/judge.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const Option options[] = {
    {"capacity", 0, OPTION_TEXT, "BYTES", "of the memory; K M G are powers of 1024", offsetof(PackArgs, capacity),
     NULL},
    {"minimise", 0, OPTION_SWITCH, NULL, "the lowest height, not just any that fits (the default without a capacity)",
     offsetof(PackArgs, minimise), NULL},
    {"align", 0, OPTION_TEXT, "BYTES", "offsets are multiples of it, ends round up to it (1)",
     offsetof(PackArgs, align), NULL},
    {"memory", 0, OPTION_TEXTS, "NAME=BYTES[:PRICE]",
     "one of several; rows without a memory go where a byte is cheapest (price 0, 1, 2, … as named)",
     offsetof(PackArgs, memories), NULL},
    {"device", 'd', OPTION_TEXT, "DEVICE", "the memories of a preset or a device file, the first is the cheapest",
     offsetof(PackArgs, device), NULL},
    {"output", 'o', OPTION_OUTPUT, "OUT.csv", "the same rows with their offsets; standard output by default",
     offsetof(PackArgs, output), NULL},
    {"json", 0, OPTION_OUTPUT, "FILE", "write the answer as JSON; - is standard output, in place of the rows",
     offsetof(PackArgs, json), NULL},
    {"threads", 0, OPTION_TEXT, "N", "as many as there are processors by default; the answer is the same for any N",
     offsetof(PackArgs, threads), NULL},
    {"nodes", 0, OPTION_TEXT, "N", "end the search after so many nodes", offsetof(PackArgs, nodes), NULL},
    {"time-limit", 0, OPTION_TEXT, "SECONDS", "end the search by the clock: answers may differ from run to run",
     offsetof(PackArgs, time_limit), NULL},
    {"without", 0, OPTION_TEXTS, "INFERENCE", "switch an inference of the search off, to see what it is worth",
     offsetof(PackArgs, without), NULL},
    {"progress", 0, OPTION_SWITCH, NULL, "tell how far the search is, also where standard error is no terminal",
     offsetof(PackArgs, progress), NULL},
    {0}};

/* ---- Reading */

typedef struct {
    char *byte;
    size_t count, capacity;
} Bytes;

static bool read_stdin(Work *work, Str *text) {
    enum { CHUNK = 1 << 16 };
    Bytes bytes = {0};
    size_t got;
    do {
        char chunk[CHUNK];
        got = fread(chunk, 1, CHUNK, stdin);
        while (bytes.capacity - bytes.count < got) {
            size_t full = bytes.capacity;
            bytes.byte = arena_grow(&work->keep, bytes.byte, full, &bytes.capacity, 1);
        }
        if (got > 0) {
            memcpy(bytes.byte + bytes.count, chunk, got);
        }
        bytes.count += got;
    } while (got > 0);
    *text = (Str){bytes.byte, bytes.count};
    return ferror(stdin) == 0 ||
           diag_error(&work->diags, (DiagText){.what = "can't read the file", .got = strerror(errno)});
}

/* A pipe or the like is read as standard input alone. */
static bool is_stream(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

static bool read_table(Cli *cli, const char *path, Pack *pack) {
    Work *work = &cli->work;
    if (strcmp(path, "-") == 0) {
        work->diags.file = "standard input";
        Str text;
        return read_stdin(work, &text) && table_read(&pack->table, text, work);
    }
    if (is_stream(path)) {
        return diag_error(&work->diags, (DiagText){.place = path,
                                                   .what = "can't read the file",
                                                   .got = "not a regular file",
                                                   .hint = "pass - and direct it to standard input"});
    }
    FileMap *map = import_add_file(&work->keep, &cli->files, str_from(path));
    if (!file_map(map, path, &work->diags)) {
        return false;
    }
    work->diags.file = path;
    return table_read(&pack->table, (Str){(const char *)map->bytes.ptr, map->bytes.len}, work);
}

/* ---- Solving */

/* Set by the first Ctrl-C; the second ends the program. */
static volatile sig_atomic_t is_interrupted;

static void interrupt(int number) {
    (void)number;
    is_interrupted = 1;
}

static void catch_interrupts(void) {
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
}

static void tell_on_terminal(void *context, const SolverProgress *progress) {
    (void)context;
    fprintf(stderr, "\rheight %" PRIu64 ", bound %" PRIu64 ", %" PRIu64 " nodes\033[K", progress->height,
            progress->bound, progress->nodes);
    fflush(stderr);
}

static void tell_in_lines(void *context, const SolverProgress *progress) {
    (void)context;
    fprintf(stderr, "height %" PRIu64 ", bound %" PRIu64 ", %" PRIu64 " nodes\n", progress->height, progress->bound,
            progress->nodes);
}

static bool solve(Cli *cli, const PackArgs *args, Pack *pack) {
    Work *work = &cli->work;
    struct timespec begin, end;
    const bool is_terminal = isatty(STDERR_FILENO) != 0;
    SolverOptions *search = &pack->problem.options;
    search->tell = cli->is_quiet ? NULL : is_terminal ? tell_on_terminal : args->progress ? tell_in_lines : NULL;
    search->stop = &is_interrupted;
    catch_interrupts();
    clock_gettime(CLOCK_MONOTONIC, &begin);
    bool is_solved = banks_run(&pack->problem, &work->keep, &work->scratch, &pack->result);
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (search->tell != NULL && is_terminal) {
        fputs("\r\033[K", stderr);
    }
    pack->seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    return is_solved ||
           diag_error(&work->diags,
                      (DiagText){.what = "sizes, with what alignment may add, or prices sum to more than 64 bits",
                                 .expected = "at most 18446744073709551615"});
}

/* ---- Judging: nothing is told that was not checked */

static JudgedBuffer *judged_buffers(const Pack *pack, const uint32_t *required, Arena *scratch) {
    JudgedBuffer *judged = arena_array(scratch, JudgedBuffer, pack->table.count);
    for (size_t k = 0; k < pack->table.count; k++) {
        const TableRow *row = &pack->table.row[k];
        const size_t storage = pack->storages.of_row[k];
        judged[k] = (JudgedBuffer){.size = row->size,
                                   .align = row->align,
                                   .first = row->first,
                                   .last = row->last,
                                   .gap = row->gap,
                                   .gap_count = row->gap_count,
                                   .share = row->share,
                                   .apart = row->apart,
                                   .is_pinned = row->is_pinned,
                                   .pin = row->offset,
                                   .required = required[k],
                                   .memory = pack->problem.where[storage],
                                   .offset = pack->storages.buffer[storage].offset};
    }
    return judged;
}

/* The memory that each row asks for, by name. */
static uint32_t *required_memories(const Pack *pack, Arena *scratch) {
    uint32_t *required = arena_array(scratch, uint32_t, pack->table.count);
    for (size_t k = 0; k < pack->table.count; k++) {
        required[k] = JUDGE_ANY_MEMORY;
        for (uint32_t m = 0; m < pack->memory_count && pack->table.row[k].memory != 0; m++) {
            bool is_it = str_eq(pack->memory[m].name, pack->table.memory[pack->table.row[k].memory]);
            required[k] = is_it ? m : required[k];
        }
    }
    return required;
}

static void judge(const Pack *pack, Arena *scratch) {
    JudgedMemory *memory = arena_array(scratch, JudgedMemory, pack->memory_count);
    for (uint32_t m = 0; m < pack->memory_count; m++) {
        const SolverResult *solved = &pack->result.bank[m];
        memory[m] = (JudgedMemory){.align_bytes = pack->memory[m].bank.align_bytes,
                                   .capacity = pack->memory[m].bank.capacity,
                                   .height = solved->height,
                                   .bound = solved->bound,
                                   .is_said_to_fit = solved->outcome == SOLVER_FOUND};
    }
    const JudgedAnswer answer = {judged_buffers(pack, required_memories(pack, scratch), scratch), pack->table.count,
                                 memory, pack->memory_count};
    const Judgement judgement = place_judge_answer(&answer, scratch);
    if (judgement.verdict != JUDGE_RIGHT) {
        fprintf(stderr, "stride0: the judge of the placement: %s (%zu, %zu)\n", judge_text(judgement.verdict),
                judgement.a, judgement.b);
    }
    CHECK(judgement.verdict == JUDGE_RIGHT);
}

/* ---- Writing */

static void write_rows(FILE *out, const void *data) {
    const Pack *pack = data;
    const size_t count = pack->table.count;
    uint64_t *offset = arena_array(pack->arena, uint64_t, count);
    Str *memory = pack->has_names ? arena_array(pack->arena, Str, count) : NULL;
    for (size_t k = 0; k < count; k++) {
        const size_t storage = pack->storages.of_row[k];
        offset[k] = pack->storages.buffer[storage].offset;
        if (memory != NULL) {
            memory[k] = pack_memory_of(pack, storage)->name;
        }
    }
    table_write(&pack->table, offset, memory, pack->arena, out);
}

/* Rows first: the report may go to the same place. */
static bool write_all(Cli *cli, const PackArgs *args, const Pack *pack) {
    const bool has_answer = pack->result.is_placed;
    const bool is_piped = cli_is_stdout(args->json) || args->output == NULL || cli_is_stdout(args->output);
    const char *rows = args->output != NULL ? args->output : cli_is_stdout(args->json) ? NULL : "-";
    if ((has_answer && rows != NULL && !cli_write(cli, rows, write_rows, pack)) ||
        (args->json != NULL && !cli_write(cli, args->json, pack_print_json, pack))) {
        return false;
    }
    fflush(stdout);
    if (has_answer && !cli->is_quiet) {
        pack_print(pack, is_piped ? stderr : stdout);
    }
    if (pack->result.outcome != SOLVER_FOUND) {
        pack_print_misfit(pack, stderr);
    }
    return true;
}

/* From the table to an answer that was judged. Each stage has the scratch memory for itself. */
static bool find_answer(Cli *cli, const PackArgs *args, Pack *pack) {
    Work *work = &cli->work;
    if (!pack_read_options(work, args, pack) || !read_table(cli, pack->file, pack)) {
        return false;
    }
    arena_reset(&work->scratch);
    if (!pack_ask(work, pack)) {
        return false;
    }
    arena_reset(&work->scratch);
    if (!solve(cli, args, pack)) {
        return false;
    }
    arena_reset(&work->scratch);
    if (pack->result.is_placed) {
        judge(pack, &work->scratch);
    }
    arena_reset(&work->scratch);
    return true;
}

static s0_status run_pack(Cli *cli, const void *data) {
    const PackArgs *args = data;
    Pack pack = {.file = cli->operands.item[0], .arena = &cli->work.keep};
    if (!find_answer(cli, args, &pack)) {
        return diags_status(&cli->work.diags);
    }
    if (!write_all(cli, args, &pack)) {
        return S0_BAD_INPUT;
    }
    return pack.result.outcome == SOLVER_FOUND ? S0_DONE : S0_NO_FIT;
}

const CliCommand command_pack = {
    .name = "pack",
    .operands = "PROBLEM.csv",
    .fewest_operands = 1,
    .most_operands = 1,
    .summary = "pack live ranges into memory: the lowest placement, or proof that there is none",
    .details =
        "PROBLEM.csv names its columns: id,lower,upper,size, where upper is the step after the last, or\n"
        "id,start,end,size, where end is the last step itself; - is standard input. Further columns: alignment,\n"
        "gaps (3-5 8-9: not alive there), offset (pinned), memory, share and apart (names of groups), hint.\n"
        "docs/pack.md describes them. Ctrl-C ends the search: the lowest placement so far is written.\n",
    .options = options,
    .args_bytes = sizeof(PackArgs),
    .run = run_pack,
};
