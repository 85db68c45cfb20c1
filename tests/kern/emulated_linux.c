/* What a program in an emulator of processes has: text, and memory that ends before a page that faults. */
#include "emulated.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void emulated_say(const char *text) {
    (void)fputs(text, stdout);
}

uint8_t *emulated_memory_end(size_t bytes) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), all = (bytes + page - 1) / page * page;
    uint8_t *map = (uint8_t *)mmap(NULL, all + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED || mprotect(map + all, page, PROT_NONE) != 0) {
        emulated_say("no memory\n");
        exit(2);
    }
    return map + all;
}
