/* What a program on an emulated Cortex-M55 begins and ends with: its vector table, memory, text and exit through the
 * emulator (semihosting). */
#include "emulated.h"

enum { WRITE_TEXT = 4, EXIT = 0x20, CRASHED = 3, MOST_MEMORY = 1 << 18 };

static int32_t ask(uint32_t operation, const void *what) {
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = what;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
    return (int32_t)r0;
}

void emulated_say(const char *text) {
    (void)ask(WRITE_TEXT, text);
}

/* There is nothing that faults behind. */
uint8_t *emulated_memory_end(size_t bytes) {
    static uint64_t memory[MOST_MEMORY / sizeof(uint64_t)];
    static size_t taken;
    taken += (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t);
    return (uint8_t *)(memory + taken);
}

static void leave(uint32_t status) {
    const uint32_t exit_with[2] = {0x20026, status}; /* the application's exit */
    for (;;) {
        (void)ask(EXIT, exit_with);
    }
}

static void crash(void) {
    emulated_say("a fault of the processor\n");
    leave(CRASHED);
}

extern uint32_t __bss_start__, __bss_end__;

/* The processor refuses floats and vectors until they are allowed. */
static void start(void) {
    volatile uint32_t *const access = (volatile uint32_t *)0xE000ED88;
    *access |= UINT32_C(0xF) << 20;
    __asm__ volatile("dsb\n isb" : : : "memory");
    for (volatile uint32_t *at = &__bss_start__; at < &__bss_end__; at++) {
        *at = 0;
    }
    leave((uint32_t)main());
}

/* The stack's end, then what is called at a reset and at each kind of fault. */
__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))0x20040000, start, crash, crash, crash, crash, crash, crash};
