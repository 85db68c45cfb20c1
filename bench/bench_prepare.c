/* What preparing a channel of 8-bit codes costs and which form it takes: a row a reference, kind of node and range of
 * slopes. */
#include "prepare/channels.h"

#include <stdio.h>
#include <time.h>

enum { CHANNELS = 20000 };

static const ChannelSlopes slopes[] = {{0.01, 1, true}, {1, 8, true}, {8, 64, true}};

/* Of this process alone: the machine may have other work. */
static double now_us(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

typedef struct {
    int channels, count[FORM8_KINDS];
    double table_us, form_us;
} Row;

/* The scratch arena is emptied: one channel at a time. */
static void add_channel(const Channel *channel, Semantics semantics, Work *work, Row *row) {
    uint8_t table[FORM8_CODES];
    Form8 form;
    Chain chain;
    arena_reset(&work->scratch);
    double start = now_us();
    if (chain_bind(channel->stage, channel->count, semantics, &work->scratch, &chain) != NULL) {
        return;
    }
    node8_table(&chain, channel->from, table);
    double middle = now_us();
    form8_find(table, form8_limits(table, channel_flip(channel->from), channel_flip(channel->to)), &form);
    row->form_us += now_us() - middle;
    row->table_us += middle - start;
    row->channels++;
    row->count[form.kind]++;
}

static void measure(Semantics semantics, ChannelKind kind, const ChannelSlopes *range, Work *work) {
    Row row = {0};
    uint64_t seed = 88172645463325252U;
    for (int c = 0; c < CHANNELS; c++) {
        Channel channel = channel_draw(&seed, kind, range);
        add_channel(&channel, semantics, work, &row);
    }
    double all = row.channels != 0 ? row.channels : 1;
    printf("%-18s %-8s %4g..%-4g %8d %8.2f %8.2f", s0_semantics_name(semantics), channel_name(kind), range->least,
           range->most, row.channels, row.table_us / all, row.form_us / all);
    for (int k = 0; k < FORM8_KINDS; k++) {
        printf(" %9.3f", 100 * row.count[k] / all);
    }
    printf("\n");
}

int main(void) {
    static Work work;
    work_init(&work, &system_allocator);
    if (setjmp(work.escape)) {
        fputs("out of memory\n", stderr);
        return 1;
    }
    printf("%-18s %-8s %10s %8s %8s %8s %9s %9s %9s %9s\n", "reference", "node", "slope", "channels", "us table",
           "us form", "% product", "% odd", "% round", "% table");
    for (int semantics = 0; semantics < S0_SEM_COUNT; semantics++) {
        for (int kind = 0; kind < CHANNEL_KINDS; kind++) {
            for (size_t range = 0; range < sizeof slopes / sizeof *slopes; range++) {
                measure((Semantics)semantics, (ChannelKind)kind, &slopes[range], &work);
            }
        }
    }
    work_free(&work);
    return 0;
}
