/* Proves that the binary form loses nothing and takes few bytes, that what was cut off or changed is refused with the
 * byte that is wrong, also where the checksum fits again, and that memory is bounded by the bytes that are read. */
#include "cmd/code.h"
#include "cmd/wire.h"

#include "cmd/programs.h"
#include "support/allocator.h"
#include "support/work.h"

/* ---- The checksum */

static uint32_t crc_bit_by_bit(const uint8_t *bytes, size_t count) {
    uint32_t sum = 0xFFFFFFFF;
    for (size_t bit = 0; bit < count * 8; bit++) {
        uint32_t in = (uint32_t)(bytes[bit / 8] >> bit % 8 & 1);
        sum = ((sum ^ in) & 1) != 0 ? sum >> 1 ^ 0xEDB88320 : sum >> 1;
    }
    return ~sum;
}

static void checksum_is_the_known_one(Work *work) {
    (void)work;
    const uint8_t digits[] = "123456789";
    uint64_t seed = 7;
    uint8_t bytes[256];
    assert_int_equal(cmd_crc32(digits, 9), 0xCBF43926); /* the check value of CRC-32 */
    assert_int_equal(cmd_crc32(NULL, 0), 0);
    for (size_t k = 0; k < sizeof bytes; k++) {
        bytes[k] = (uint8_t)random_below(&seed, 256);
        assert_int_equal(cmd_crc32(bytes, k + 1), crc_bit_by_bit(bytes, k + 1));
    }
}

/* ---- Round trips */

static void forget(Work *work) {
    arena_reset(&work->keep);
    arena_reset(&work->scratch);
    work->diags = (Diags){.arena = work->diags.arena};
}

static const CmdProgram *decoded(Work *work, Span bytes) {
    const CmdProgram *program = cmd_decode(bytes, "test", work);
    if (program == NULL) {
        char *text = messages_of(work);
        fail_msg("%s", text);
        free(text);
    }
    return program;
}

static void comes_back(Work *work, const CmdProgram *program) {
    Span bytes = cmd_encode(program, &work->scratch);
    Span twice = cmd_encode(program, &work->scratch);
    const CmdProgram *again = decoded(work, bytes);
    assert_true(same_program(program, again));
    assert_int_equal(bytes.len, twice.len);
    assert_memory_equal(bytes.ptr, twice.ptr, bytes.len);
    Span from_again = cmd_encode(again, &work->scratch);
    assert_int_equal(bytes.len, from_again.len);
    assert_memory_equal(bytes.ptr, from_again.ptr, bytes.len);
}

static void programs_come_back(Work *work) {
    SmallProgram small;
    small_program(&small);
    comes_back(work, &small.program);
    for (uint64_t seed = 0; seed < 3000; seed++) {
        comes_back(work, random_program(&work->scratch, seed));
        forget(work);
    }
}

/* As few bytes as each can have, so many that a count is held against them exactly. */
static void least_programs_come_back(Work *work) {
    enum { BUFFERS = 40, COMMANDS = 40 };
    CmdBuffer buffer[BUFFERS];
    Command command[COMMANDS];
    SmallProgram small;
    small_program(&small);
    for (uint32_t k = 0; k < BUFFERS; k++) {
        buffer[k] = (CmdBuffer){.dtype = DTYPE_I8, .lanes = 1, .view = CMD_NONE};
    }
    for (uint32_t k = 0; k < COMMANDS; k++) {
        command[k] = small.command[3];
    }
    small.program.buffers = buffer;
    small.program.buffer_count = BUFFERS;
    small.program.command_count = 0;
    comes_back(work, &small.program);
    small.program.commands = command;
    small.program.command_count = COMMANDS;
    comes_back(work, &small.program);
    small.program.command_count--;
    size_t fewer = cmd_encode(&small.program, &work->scratch).len;
    small.program.command_count++;
    assert_int_equal(cmd_encode(&small.program, &work->scratch).len, fewer + 2);
}

static void what_an_operation_has_not_is_dropped(Work *work) {
    SmallProgram small;
    small_program(&small);
    small.command[4].src.offset_bits = 99; /* FILL has none */
    small.command[0].scratch = (CmdOperand){0, 0, 0};
    small.command[0].semantics = S0_SEM_ONNX;
    small.command[0].code = 1;
    assert_null(cmd_check(&small.program, &work->scratch));
    const CmdProgram *again = decoded(work, cmd_encode(&small.program, &work->scratch));
    small_program(&small);
    small.command[4].src.view = CMD_NONE;
    assert_true(same_program(&small.program, again));
}

static void every_dtype_has_a_number(Work *work) {
    (void)work;
    for (int dtype = 0; dtype < DTYPE_COUNT; dtype++) {
        assert_true(dtype_bits((DType)dtype) == 0 || dtype_from_onnx(dtype_to_onnx((DType)dtype)) == (DType)dtype);
    }
}

static void tiles_take_few_bytes(Work *work) {
    enum { TILES = 20000, MOST_BYTES = 16 };
    SmallProgram small;
    const CmdProgram *program = tile_program(&work->scratch, &small, TILES);
    assert_null(cmd_check(program, &work->scratch));
    Span bytes = cmd_encode(program, &work->scratch);
    print_message("%zu bytes for %d commands\n", bytes.len, TILES * TILE_COMMANDS);
    assert_true(bytes.len < (size_t)MOST_BYTES * TILES * TILE_COMMANDS);
    assert_true(same_program(program, decoded(work, bytes)));
}

/* ---- Damage */

static uint8_t *copy_of(Work *work, Span bytes, size_t room) {
    uint8_t *copy = arena_alloc(&work->scratch, bytes.len + room, 1);
    memcpy(copy, bytes.ptr, bytes.len);
    return copy;
}

static void put_sum(uint8_t *bytes, size_t count) {
    uint32_t sum = cmd_crc32(bytes, count - 4);
    for (size_t k = 0; k < 4; k++) {
        bytes[count - 4 + k] = (uint8_t)(sum >> 8 * k);
    }
}

static void is_refused(Work *work, const uint8_t *bytes, size_t count, const char *told) {
    /* in a block of exactly its size, so that AddressSanitizer sees a read past the end */
    uint8_t *exact = malloc(count == 0 ? 1 : count);
    assert_non_null(exact);
    memcpy(exact, bytes, count);
    const CmdProgram *program = cmd_decode((Span){exact, count}, "test", work);
    if (program != NULL || !was_told(work, told)) {
        char *text = messages_of(work);
        fail_msg("expected '%s' of %zu bytes, got '%s'", told, count, program != NULL ? "a program" : text);
        free(text);
    }
    free(exact);
    arena_reset(&work->keep);
    work->diags = (Diags){.arena = work->diags.arena};
}

static void truncations_are_refused(Work *work) {
    SmallProgram small;
    small_program(&small);
    Span bytes = cmd_encode(&small.program, &work->scratch);
    uint8_t *copy = copy_of(work, bytes, 0);
    for (size_t count = 0; count < bytes.len; count++) {
        memcpy(copy, bytes.ptr, bytes.len);
        is_refused(work, copy, count, "test: byte ");
        if (count >= 12) {
            put_sum(copy, count);
            is_refused(work, copy, count, "test: byte ");
        }
    }
}

static void bytes_behind_are_refused(Work *work) {
    SmallProgram small;
    small_program(&small);
    Span bytes = cmd_encode(&small.program, &work->scratch);
    uint8_t *copy = copy_of(work, bytes, 1);
    is_refused(work, copy, bytes.len + 1, "the checksum is wrong");
    copy[bytes.len - 4] = 0;
    put_sum(copy, bytes.len + 1);
    is_refused(work, copy, bytes.len + 1, "bytes behind the last command");
}

/* Refused, or a program like any other. */
static bool is_taken(Work *work, Span bytes) {
    const CmdProgram *program = cmd_decode(bytes, "test", work);
    if (program != NULL) {
        assert_null(cmd_check(program, &work->keep));
        const CmdProgram *again = decoded(work, cmd_encode(program, &work->keep));
        /* stages whose kind was flipped keep numbers of the old kind behind their own */
        assert_int_equal(again->command_count, program->command_count);
        Span first = cmd_encode(program, &work->keep), second = cmd_encode(again, &work->keep);
        assert_int_equal(first.len, second.len);
        assert_memory_equal(first.ptr, second.ptr, first.len);
    } else {
        assert_true(diags_failed(&work->diags));
    }
    arena_reset(&work->keep);
    work->diags = (Diags){.arena = work->diags.arena};
    return program != NULL;
}

static void flipped_bits_are_refused(Work *work) {
    size_t taken = 0, flips = 0;
    for (uint64_t seed = 0; seed < 3; seed++) {
        SmallProgram small;
        small_program(&small);
        const CmdProgram *program = seed == 0 ? &small.program : random_program(&work->scratch, seed);
        Span bytes = cmd_encode(program, &work->scratch);
        uint8_t *copy = copy_of(work, bytes, 0);
        for (size_t bit = 0; bit < bytes.len * 8; bit++) {
            copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
            assert_null(cmd_decode((Span){copy, bytes.len}, "test", work));
            work->diags = (Diags){.arena = work->diags.arena};
            put_sum(copy, bytes.len);
            taken += is_taken(work, (Span){copy, bytes.len});
            flips++;
            memcpy(copy, bytes.ptr, bytes.len);
        }
        arena_reset(&work->scratch);
    }
    print_message("%zu of %zu flips are programs where the checksum fits\n", taken, flips);
    assert_true(taken > flips / 4 && taken < flips);
}

/* ---- Hostile bodies */

typedef struct {
    const char *body; /* between the version and the checksum */
    size_t count;
    const char *told[2];
} Body;

#define BODY(text, byte, what)                                                                                         \
    {                                                                                                                  \
        text, sizeof(text) - 1, {                                                                                      \
            "byte " byte ":", what                                                                                     \
        }                                                                                                              \
    }
#define HEAD     "\0\0\1\0" /* no names, one queue, no cycles: bytes 8 to 11 */
#define EMPTY    "\0\0\0\0" /* of what follows: no nodes, views, buffers, commands */
#define HUGE     "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\1"
#define NO_NODES HEAD "\0"
#define NO_VIEWS NO_NODES "\0"

static const Body bodies[] = {
    BODY(HUGE, "8", "a count is larger"),
    BODY("\2a", "8", "a count is larger"),
    BODY("\0\0\x80\0", "10", "no number"),                                 /* a leading zero */
    BODY("\0\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\2", "10", "no number"), /* 65 bits */
    BODY("\0\0\xFF\xFF\xFF\xFF\x10", "10", "a number is too large"),
    BODY("\0\0\1\x80", "12", "the program ends"),
    BODY(HEAD "\1", "12", "a count is larger"),
    BODY(HEAD HUGE, "12", "a count is larger"),
    BODY(NO_NODES HUGE, "13", "a count is larger"),
    BODY(NO_NODES "\1\x19\0\0\0", "14", "a view has too many levels"),
    BODY(NO_NODES "\1\1\6\1\0\0\0\0\0", "15", "there is no such axis"),
    BODY(NO_VIEWS HUGE, "14", "a count is larger"),
    BODY(NO_VIEWS "\2\0\0\0\3\0\0\0\1\0\0\0\0\0\0\0\0", "14", "a count is larger"),
    BODY(NO_VIEWS "\1\5\0\0\3\0\0\0\1\0\0\0\0\0", "15", "there is no such kind of buffer"),
    BODY(NO_VIEWS "\1\0\0\0\x08\0\0\0\1\0\0\0\0\0", "18", "no type of elements"), /* string */
    BODY(NO_VIEWS "\1\0\0\0\x63\0\0\0\1\0\0\0\0\0", "18", "no type of elements"),
    BODY(NO_VIEWS "\1\0\0\0\3\0\0\0\1\0\0\1\0\x11\0\0\0", "27", "the rank is too large"),
    BODY(NO_VIEWS "\0" HUGE, "15", "a count is larger"),
    BODY(NO_VIEWS "\0\2\0\0\0", "15", "a count is larger"),
    BODY(NO_VIEWS "\0\1\x7F\0", "16", "there is no such operation"),
    BODY(NO_VIEWS "\0\1\0\x80\x80\1", "17", "a command has parts that there are not"),
    BODY(NO_VIEWS "\0\1\0\4\x11", "18", "too many waits"),
    BODY(NO_VIEWS "\0\1\0\4\1\1", "19", "a wait goes back before the first command"),
    BODY(NO_VIEWS "\0\1\0\x08\x40", "18", "a box has axes that there are not"),
    BODY(NO_VIEWS "\0\1\4\x10\x11", "18", "a command has too many stages"),
    BODY(NO_VIEWS "\0\1\4\x10\1\2", "19", "a stage is new or not"),
    BODY(NO_VIEWS "\0\1\4\x10\1\1\x15", "20", "there is no such kind of stage"),
    BODY(NO_VIEWS "\0\1\4\x10\1\0\5", "20", "a stage has too many parameters"),
    BODY(NO_VIEWS "\0\1\4\x10\1\0\1\x14", "21", "there is no such kind of parameter"),
    BODY(NO_VIEWS "\0\1\0\x40\x09\0", "18", "there is no such column"),
    BODY(NO_VIEWS "\0\1\0\x40\0\x09", "19", "there is no such queue"),
    BODY(NO_VIEWS "\0\1\4\x80\2\6\0", "19", "there are no such semantics"),
    BODY(NO_VIEWS "\0\1\4\x80\2\0\4", "20", "there is no such carry"),
    BODY(NO_VIEWS "\0\1\x08\x80\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\2", "34", "scales are new or not"),
    BODY(NO_VIEWS "\0\1\x08\x80\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\2\0", "35", "a count is larger"),
    BODY(NO_VIEWS "\0\1\x08\x80\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1" HUGE, "35", "a count is larger"),
    BODY(HEAD EMPTY "\0", "16", "bytes behind the last command"),
};

static size_t framed(uint8_t *bytes, const char *body, size_t count) {
    memcpy(bytes, "S0CM\2\0\0\0", 8);
    memcpy(bytes + 8, body, count);
    put_sum(bytes, count + 12);
    return count + 12;
}

static void hostile_bodies_are_told(Work *work) {
    uint8_t bytes[128];
    for (size_t k = 0; k < sizeof bodies / sizeof bodies[0]; k++) {
        size_t count = framed(bytes, bodies[k].body, bodies[k].count);
        is_refused(work, bytes, count, bodies[k].told[0]);
        is_refused(work, bytes, count, bodies[k].told[1]);
    }
    size_t count = framed(bytes, HEAD EMPTY, 8);
    assert_non_null(decoded(work, (Span){bytes, count}));
}

static void hostile_frames_are_told(Work *work) {
    uint8_t bytes[32];
    size_t count = framed(bytes, HEAD EMPTY, 8);
    bytes[4] = 3;
    put_sum(bytes, count);
    is_refused(work, bytes, count, "byte 4: a program of another version");
    bytes[0] = 's';
    is_refused(work, bytes, count, "byte 0: no program of commands");
    is_refused(work, bytes, 11, "byte 11: too short for a program");
    is_refused(work, bytes, 0, "byte 0: too short for a program");
    count = framed(bytes, "\0\0\0\0" EMPTY, 8);
    is_refused(work, bytes, count, "test: the number of queues is 0"); /* what cmd_check says */
}

/* ---- Memory */

static size_t memory_of(const uint8_t *bytes, size_t count, bool *is_program) {
    CountingAllocator counter = {0};
    s0_allocator allocator = counting_allocator(&counter);
    Work work;
    work_init(&work, &allocator);
    if (setjmp(work.escape) != 0) {
        fail_msg("out of memory");
    }
    *is_program = cmd_decode((Span){bytes, count}, "test", &work) != NULL;
    size_t taken = counter.live_bytes;
    work_free(&work);
    assert_int_equal(counter.live_bytes, 0);
    return taken;
}

/* The dearest bytes: views without levels; commands that repeat 16 waits. */
static void memory_is_bounded(Work *work) {
    enum { COUNT = 100000, SMALL = 1 << 16 };
    uint8_t *bytes = arena_alloc(&work->scratch, COUNT * 3 + 64, 1);
    uint8_t *body = arena_alloc(&work->scratch, COUNT * 3, 1);
    const uint8_t views[] = HEAD "\0\xA0\x8D\6"; /* 100 000 */
    bool is_program;
    memcpy(body, views, sizeof views - 1);
    size_t count = framed(bytes, (const char *)body, sizeof views - 1 + COUNT + 2);
    size_t taken = memory_of(bytes, count, &is_program);
    print_message("%zu bytes of memory for %zu bytes of views\n", taken, count);
    assert_true(is_program);
    assert_true(taken < 1024 * count + SMALL);
    const uint8_t commands[] = HEAD "\0\0\0\xA0\x8D\6";
    memset(body, 0, COUNT * 3);
    memcpy(body, commands, sizeof commands - 1);
    uint8_t *at = body + sizeof commands - 1;
    for (size_t k = 0; k < COUNT; k++) {
        at += k == 16 ? 19 : 2;
        if (k == 16) {
            at[-18] = 4;
            at[-17] = 16;
            memset(at - 16, 1, 16);
        }
    }
    count = framed(bytes, (const char *)body, (size_t)(at - body));
    taken = memory_of(bytes, count, &is_program);
    print_message("%zu bytes of memory for %zu bytes of commands\n", taken, count);
    assert_true(taken < 1024 * count + SMALL);
}

/* Every allocation that fails ends the reading, and gives back what was taken. */
static void memory_may_run_out(Work *work) {
    SmallProgram small;
    small_program(&small);
    Span bytes = cmd_encode(&small.program, &work->scratch);
    volatile bool is_read = false;
    for (volatile size_t k = 1; !is_read; k++) {
        CountingAllocator counter = {.fail_at = k};
        s0_allocator allocator = counting_allocator(&counter);
        Work short_of;
        work_init(&short_of, &allocator);
        if (setjmp(short_of.escape) == 0) {
            is_read = cmd_decode(bytes, "test", &short_of) != NULL;
        }
        work_free(&short_of);
        assert_int_equal(counter.live_bytes, 0);
        assert_false(counter.told_wrong_size);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WORK_TEST(checksum_is_the_known_one), WORK_TEST(programs_come_back),
        WORK_TEST(least_programs_come_back),  WORK_TEST(what_an_operation_has_not_is_dropped),
        WORK_TEST(every_dtype_has_a_number),  WORK_TEST(tiles_take_few_bytes),
        WORK_TEST(truncations_are_refused),   WORK_TEST(bytes_behind_are_refused),
        WORK_TEST(flipped_bits_are_refused),  WORK_TEST(hostile_bodies_are_told),
        WORK_TEST(hostile_frames_are_told),   WORK_TEST(memory_is_bounded),
        WORK_TEST(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
