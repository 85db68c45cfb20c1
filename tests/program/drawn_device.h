/* The device and the options of a drawn case, and the case as a whole. */
#ifndef S0_TESTS_PROGRAM_DRAWN_DEVICE_H
#define S0_TESTS_PROGRAM_DRAWN_DEVICE_H

#include "program/drawn_contract.h"
#include "program/drawn_graph.h"

/* ---- The device */

static inline void print_key(const Drawn *drawn, const char *key, uint64_t value) {
    fprintf(drawn->device, "%s = %llu @ test\n", key, (unsigned long long)value);
}

/* Sets of forms that an engine reads: bit 0 scalar, 1 channel, 2 row, 3 full. */
static const uint8_t readable_forms[] = {15, 2, 8, 3, 11, 10, 12, 9, 4, 14, 15, 15};
enum { GRAINS_DRAWN = 5 };

static inline void print_forms(const Drawn *drawn) {
    static const char *const name[] = {"scalar", "channel", "row", "full"};
    static const unsigned grain[GRAINS_DRAWN] = {1, 4, 8, 32, 3};
    uint32_t set = readable_forms[gene(drawn, GENE_FORMS, sizeof readable_forms)];
    fputs("[parameter]\n", drawn->device);
    for (uint32_t form = 0; form < 4; form++) {
        if ((set >> form & 1) == 0) {
            fprintf(drawn->device, "%s = no @ test\n", name[form]);
        } else {
            print_key(drawn, name[form], form == 1 ? grain[gene(drawn, GENE_GRAIN, GRAINS_DRAWN)] : 1);
        }
    }
}

/* Of the DMA: what is not told is 0. */
static const uint16_t drawn_burst[] = {0, 8, 64, 12, 100}, drawn_least[] = {0, 1, 8, 32, 5},
                      drawn_most[] = {0, 0, 0, 0, 4096, 4096, 1000, 512}, drawn_unit[] = {0, 1, 4, 8, 3};
enum { BURSTS_DRAWN = 5, LEASTS_DRAWN = 5, MOSTS_DRAWN = 8, UNITS_DRAWN = 5 };

static inline void print_known_key(const Drawn *drawn, const char *key, uint64_t value) {
    if (value > 0) {
        print_key(drawn, key, value);
    }
}

static inline void print_costs(const Drawn *drawn) {
    uint32_t costs = gene(drawn, GENE_COSTS, 4);
    fputs("[engine]\n", drawn->device);
    print_key(drawn, "vector_bytes_cycle", costs == 0 ? 16 : costs == 1 ? 1 : 7);
    print_key(drawn, "mac_cycle", costs == 0 ? 8 : costs == 1 ? 1 : 5);
    print_key(drawn, "issue_cycles", costs == 0 ? 10 : costs == 1 ? 0 : 100);
    print_key(drawn, "descriptor_cycles", costs == 0 ? 10 : costs == 1 ? 0 : 3);
    print_key(drawn, "sync_cycles", costs == 0 ? 20 : costs == 1 ? 1 : 0);
    fputs("[dma]\n", drawn->device);
    print_key(drawn, "bytes_cycle", costs == 0 ? 8 : costs == 1 ? 1 : 3);
    print_key(drawn, "setup_cycles", costs == 0 ? 50 : costs == 1 ? 0 : 7);
    print_key(drawn, "channels", 1 + gene(drawn, GENE_CHANNELS, 3));
    print_known_key(drawn, "burst_bytes", drawn_burst[gene(drawn, GENE_BURST, BURSTS_DRAWN)]);
    print_known_key(drawn, "min_bytes", drawn_least[gene(drawn, GENE_MIN, LEASTS_DRAWN)]);
    print_known_key(drawn, "max_bytes", drawn_most[gene(drawn, GENE_MAX, MOSTS_DRAWN)]);
    print_known_key(drawn, "align_bytes", drawn_unit[gene(drawn, GENE_DMA_ALIGN, UNITS_DRAWN)]);
}

/* The text is to be freed. */
static inline void draw_device(Drawn *drawn) {
    static const uint8_t far[] = {1, 16, 64};
    drawn->device = open_memstream(&drawn->device_text, &drawn->device_length);
    fputs("[device]\nname = drawn\nkind = scratchpad\n[memory local]\n", drawn->device);
    print_key(drawn, "bytes", drawn->local_bytes);
    print_key(drawn, "align_bytes", drawn_align(drawn));
    print_key(drawn, "lanes", LAYOUT_MOST_BANKS);
    fputs("[memory far]\nbytes = unbounded @ test\n", drawn->device);
    print_key(drawn, "align_bytes", far[gene(drawn, GENE_ALIGN_FAR, 3)]);
    fprintf(drawn->device, "[contract]\nactivation = %s @ test\nweight = %s @ test\nparameter = %s @ test\n",
            drawn->layout[0], drawn->weight_layout, drawn->layout[1]);
    print_forms(drawn);
    print_costs(drawn);
    fclose(drawn->device);
}

/* Another device, that has `bytes` of local memory. */
static inline void draw_just_enough(Drawn *drawn, uint64_t bytes) {
    free(drawn->device_text);
    drawn->has_just_enough = true;
    drawn->options.budget_bytes = 0;
    drawn->local_bytes = bytes;
    draw_device(drawn);
}

static inline void draw_options(Drawn *drawn) {
    uint32_t tile = gene(drawn, GENE_TILE, 8), channels = gene(drawn, GENE_TILE_CHANNELS, 8);
    drawn->options = (PlanOptions){.strategy = (Strategy)gene(drawn, GENE_STRATEGY, 5),
                                   .expand_before = gene(drawn, GENE_EXPAND, 3) == 2,
                                   .in_place = gene(drawn, GENE_IN_PLACE, 2) == 1,
                                   .order_memory = gene(drawn, GENE_SALT, 2) == 1,
                                   .whole_tiles = tile == 1,
                                   .tile_rows = tile > 4 ? tile - 4 : 0,
                                   .tile_channels = channels > 4 ? channels - 4 : 0,
                                   .parameters = (Parameters)gene(drawn, GENE_RESIDENCE, 3),
                                   .schedule = (Schedule)gene(drawn, GENE_SCHEDULE, SCHEDULE_COUNT)};
}

/* Memory of the device, or a budget below it. */
static inline void draw_memory(Drawn *drawn) {
    static const uint32_t bytes[] = {65536, 65536, 1 << 17, 16384, 32768, 16384, 8192, 4096, 2048, 512};
    uint32_t chosen = bytes[gene(drawn, GENE_BYTES, 10)];
    bool is_budget = gene(drawn, GENE_BUDGET, 4) == 3;
    drawn->options.budget_bytes = is_budget ? chosen : 0;
    drawn->local_bytes = is_budget ? 1 << 17 : chosen; /* the largest budget */
}

/* `draw` writes the graph's text. */
static inline void draw_case(Drawn *drawn, const Genes *genes, void (*draw)(Drawn *drawn), Work *work) {
    *drawn = (Drawn){.genes = genes, .work = work, .weight_layout = "O I H W"};
    draw(drawn);
    draw_layouts(drawn);
    draw_options(drawn);
    draw_memory(drawn);
    draw_device(drawn);
}

static inline void free_case(Drawn *drawn) {
    free(drawn->graph_text);
    free(drawn->device_text);
    free(drawn->layout[0]);
    free(drawn->layout[1]);
}

static inline Genes draw_genes(uint64_t seed) {
    Genes genes;
    uint64_t state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    for (uint32_t k = 0; k < 4; k++) {
        random_next(&state);
    }
    for (uint32_t k = 0; k < GENES; k++) {
        genes.gene[k] = (uint16_t)(random_next(&state) >> 40);
    }
    return genes;
}

#endif
