/* Names the machine that was measured, and what it was measured with. */
#include "results.h"

#include "native/variant.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { LINE_TEXT = 256 };

static void write_processor(FILE *out) {
    char line[LINE_TEXT];
    FILE *file = fopen("/proc/cpuinfo", "r");
    const char *name = "an unnamed processor\n";
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", strlen("model name")) == 0 && colon != NULL) {
            name = colon + 2;
            break;
        }
    }
    fprintf(out, "%.*s, %ld cores; ", (int)strcspn(name, "\n"), name, sysconf(_SC_NPROCESSORS_ONLN));
    if (file != NULL) {
        fclose(file);
    }
}

void machine_write(const Results *results, FILE *out) {
    fputs("Measured on ", out);
    write_processor(out);
    fprintf(out,
            "caches of %" PRIu64 " KiB, %" PRIu64 " KiB and %" PRIu64 " MiB; the kernels `%s`, compiled by %s.\n\n"
            "| with | version |\n",
            level_bytes(LEVEL_L1) >> 10, level_bytes(LEVEL_L2) >> 10, level_bytes(LEVEL_L3) >> 20,
            variant_choose()->name, BENCH_COMPILER);
    fputs("|---|---|\n", out);
    for (size_t k = 0; k < results->family_count; k++) {
        const Family *family = &results->family[k];
        const char *version = family->missing != NULL ? "not there" : family->version;
        if (version != NULL) {
            fprintf(out, "| %s | %s |\n", family->name, version);
        }
    }
}
