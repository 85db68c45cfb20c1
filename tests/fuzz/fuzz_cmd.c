/* Fuzz target: any bytes as a program of commands, in binary with a checksum made to fit, or as text. What is taken is
 * sound, and both forms give it back. */
#include "cmd/code.h"
#include "cmd/text.h"
#include "cmd/wire.h"

#include "base/fault.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *printed(const CmdProgram *program, size_t *length) {
    char *text = NULL;
    FILE *memory = open_memstream(&text, length);
    if (memory == NULL) {
        return NULL;
    }
    cmd_print(program, memory);
    fclose(memory);
    return text;
}

/* No fuzzer finds a checksum: the last bytes are made to be it. */
static const CmdProgram *read_program(const uint8_t *data, size_t size, Work *work) {
    if (size < CMD_HEAD_BYTES + CMD_SUM_BYTES || memcmp(data, CMD_MAGIC, CMD_MAGIC_BYTES) != 0) {
        return cmd_parse((Str){(const char *)data, size}, "fuzz", work);
    }
    uint8_t *copy = arena_alloc(&work->keep, size, 1);
    memcpy(copy, data, size);
    uint32_t sum = cmd_crc32(copy, size - CMD_SUM_BYTES);
    for (uint32_t k = 0; k < CMD_SUM_BYTES; k++) {
        copy[size - CMD_SUM_BYTES + k] = (uint8_t)(sum >> 8 * k);
    }
    return cmd_decode((Span){copy, size}, "fuzz", work);
}

static void check_same(Span a, Span b) {
    CHECK(a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0);
}

static void check_program(const uint8_t *data, size_t size, Work *work, char **text) {
    size_t length = 0;
    const CmdProgram *program = read_program(data, size, work);
    if (program == NULL) {
        CHECK(diags_failed(&work->diags));
        return;
    }
    CHECK(cmd_check(program, &work->scratch) == NULL);
    Span bytes = cmd_encode(program, &work->scratch);
    *text = printed(program, &length);
    const CmdProgram *from_text = cmd_parse((Str){*text, length}, "fuzz", work);
    CHECK(from_text != NULL);
    check_same(bytes, cmd_encode(from_text, &work->scratch));
    const CmdProgram *from_bytes = cmd_decode(bytes, "fuzz", work);
    CHECK(from_bytes != NULL);
    check_same(bytes, cmd_encode(from_bytes, &work->scratch));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Work work;
    char *text = NULL;
    work_init(&work, &system_allocator);
    if (setjmp(work.escape) == 0) {
        check_program(data, size, &work, &text);
    }
    free(text);
    work_free(&work);
    return 0;
}
