/* The device and the options of a drawn case, and the case as a whole. */
#ifndef S0_TESTS_PROGRAM_DRAWN_DEVICE_H
#define S0_TESTS_PROGRAM_DRAWN_DEVICE_H

#include "program/drawn.h"

/* ---- The device */

static inline void print_key(const Drawn *drawn, const char *key, uint64_t value) {
    fprintf(drawn->device, "%s = %llu @ test\n", key, (unsigned long long)value);
}

static inline void print_contract(const Drawn *drawn, const char *role, uint32_t which) {
    static const char *const text[] = {
        "N C H W",
        "N H W C",
        "when C==1: N H W@%A C | N H W C@%A",
        "N H C/%B W C%%%B",
        "N C/%B H W C%%%B",
        "bank[C%%%B] N C/%B H@%A W",
        "N C H W@%A",
        "when W<=16: N C/4 H C%%4 W@16 | when W<=32: N C/2 H C%%2 W@32 | N C H W@64",
        "N C/%B H/2 W/4 H%%2 C%%%B W%%4",
        "bank[W%%2] N H W/2 C@%A",
        "N H+3 W C@%A",
        "N C H W@1 total@%A",
        "when bits==4: N C H W@1 | N C H W",
        "N C/%B H^3 W C%%%B@%A",
    };
    fprintf(drawn->device, "%s = ", role);
    for (const char *c = text[which % (sizeof text / sizeof text[0])]; *c != '\0'; c++) {
        if (*c == '%' && c[1] == 'A') {
            static const unsigned align[] = {1, 16, 32, 64};
            fprintf(drawn->device, "%u", align[gene(drawn, GENE_ALIGN, 4)]);
            c++;
        } else if (*c == '%' && c[1] == 'B') {
            static const unsigned block[] = {4, 8, 16};
            fprintf(drawn->device, "%u", block[gene(drawn, GENE_BLOCK, 3)]);
            c++;
        } else if (*c == '%' && c[1] == '%') {
            fputc('%', drawn->device);
            c++;
        } else {
            fputc(*c, drawn->device);
        }
    }
    fputs(" @ test\n", drawn->device);
}

static inline void print_forms(const Drawn *drawn) {
    static const char *const name[] = {"scalar", "channel", "row", "full"};
    static const uint8_t readable[] = {15, 15, 15, 2, 8, 3, 11, 10, 12};
    static const unsigned grain[] = {1, 1, 1, 4, 8, 32};
    uint32_t set = readable[gene(drawn, GENE_FORMS, sizeof readable)];
    fputs("[parameter]\n", drawn->device);
    for (uint32_t form = 0; form < 4; form++) {
        if ((set >> form & 1) == 0) {
            fprintf(drawn->device, "%s = no @ test\n", name[form]);
        } else {
            print_key(drawn, name[form], form == 1 ? grain[gene(drawn, GENE_GRAIN, 6)] : 1);
        }
    }
}

static inline void print_costs(const Drawn *drawn) {
    static const unsigned burst[] = {0, 8, 64}, least[] = {0, 1, 8, 32}, most[] = {0, 0, 0, 4096, 512},
                          unit[] = {0, 1, 4, 8};
    uint32_t costs = gene(drawn, GENE_COSTS, 4);
    fputs("[engine]\n", drawn->device);
    print_key(drawn, "vector_bytes_cycle", costs == 0 ? 16 : costs == 1 ? 1 : 7);
    print_key(drawn, "issue_cycles", costs == 0 ? 10 : costs == 1 ? 0 : 100);
    print_key(drawn, "descriptor_cycles", costs == 0 ? 10 : costs == 1 ? 0 : 3);
    print_key(drawn, "sync_cycles", costs == 0 ? 20 : costs == 1 ? 1 : 0);
    fputs("[dma]\n", drawn->device);
    print_key(drawn, "bytes_cycle", costs == 0 ? 8 : costs == 1 ? 1 : 3);
    print_key(drawn, "setup_cycles", costs == 0 ? 50 : costs == 1 ? 0 : 7);
    print_key(drawn, "channels", 1 + gene(drawn, GENE_CHANNELS, 2));
    if (burst[gene(drawn, GENE_BURST, 3)] > 0) {
        print_key(drawn, "burst_bytes", burst[gene(drawn, GENE_BURST, 3)]);
    }
    if (least[gene(drawn, GENE_MIN, 4)] > 0) {
        print_key(drawn, "min_bytes", least[gene(drawn, GENE_MIN, 4)]);
    }
    if (most[gene(drawn, GENE_MAX, 5)] > 0) {
        print_key(drawn, "max_bytes", most[gene(drawn, GENE_MAX, 5)]);
    }
    if (unit[gene(drawn, GENE_DMA_ALIGN, 4)] > 0) {
        print_key(drawn, "align_bytes", unit[gene(drawn, GENE_DMA_ALIGN, 4)]);
    }
}

static inline void draw_device(Drawn *drawn) {
    static const unsigned align[] = {1, 16, 32, 64}, bytes[] = {1 << 20, 65536, 32768, 16384, 8192, 4096, 2048, 1024};
    drawn->device = open_memstream(&drawn->device_text, &drawn->device_length);
    fputs("[device]\nname = drawn\nkind = scratchpad\n[memory local]\n", drawn->device);
    print_key(drawn, "bytes", bytes[gene(drawn, GENE_BYTES, 8)]);
    print_key(drawn, "align_bytes", align[gene(drawn, GENE_ALIGN, 4)]);
    print_key(drawn, "lanes", 32);
    fputs("[memory far]\nbytes = unbounded @ test\n", drawn->device);
    print_key(drawn, "align_bytes", align[gene(drawn, GENE_ALIGN, 4)]);
    fputs("[contract]\n", drawn->device);
    print_contract(drawn, "activation", gene(drawn, GENE_CONTRACT, 14));
    fputs("weight = O I H W @ test\n", drawn->device);
    uint32_t parameter = gene(drawn, GENE_PARAMETER, 4);
    print_contract(drawn, "parameter",
                   parameter == 0   ? 0
                   : parameter == 1 ? gene(drawn, GENE_CONTRACT, 14)
                   : parameter == 2 ? 1
                                    : 4);
    print_forms(drawn);
    print_costs(drawn);
    fclose(drawn->device);
}

static inline void draw_options(Drawn *drawn) {
    uint32_t tile = gene(drawn, GENE_TILE, 8);
    drawn->options = (PlanOptions){.strategy = (Strategy)gene(drawn, GENE_STRATEGY, 5),
                                   .in_place = gene(drawn, GENE_IN_PLACE, 2) == 1,
                                   .sweeps = true,
                                   .whole_tiles = tile == 1,
                                   .tile_rows = tile > 4 ? tile - 4 : 0,
                                   .schedule = (Schedule)gene(drawn, GENE_SCHEDULE, SCHEDULE_COUNT)};
}

/* Texts are to be freed. */
static inline void draw_case(Drawn *drawn, const Genes *genes, Work *work) {
    *drawn = (Drawn){.genes = genes, .work = work};
    draw_graph(drawn);
    draw_device(drawn);
    draw_options(drawn);
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
