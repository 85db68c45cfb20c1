/* Proves: a file is mapped whole or refused with its name and the reason, and never waited for; an output file appears
 * whole at commit and not before, is gone after abandon and after a commit that fails, also where memory runs out, and
 * a full disk is an error that leaves what was there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/work.h"
#include "support/allocator.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    Work work;
    char folder[64];
} Fixture;

static int set_up(void **state) {
    Fixture *fixture = calloc(1, sizeof *fixture);
    if (fixture == NULL) {
        return -1;
    }
    strcpy(fixture->folder, "/tmp/stride0-file-XXXXXX");
    if (mkdtemp(fixture->folder) == NULL || chdir(fixture->folder) != 0) {
        free(fixture);
        return -1;
    }
    work_init(&fixture->work, &system_allocator);
    *state = fixture;
    return 0;
}

/* The folder must be empty: what a test leaves behind is a fault. */
static int tear_down(void **state) {
    Fixture *fixture = *state;
    work_free(&fixture->work);
    int left = rmdir(fixture->folder);
    free(fixture);
    return left;
}

static void put(const char *path, const char *text) {
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

static void expect_content(const char *path, const char *text) {
    char content[64] = {0};
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    fread(content, 1, sizeof content - 1, in);
    fclose(in);
    assert_string_equal(content, text);
}

static size_t count_files(void) {
    size_t count = 0;
    DIR *folder = opendir(".");
    assert_non_null(folder);
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        count += entry->d_name[0] != '.';
    }
    closedir(folder);
    return count;
}

static void test_map(void **state) {
    Fixture *fixture = *state;
    FileMap map;
    put("m", "seven b");
    put("empty", "");
    assert_true(file_map(&map, "m", &fixture->work.diags));
    assert_int_equal(map.bytes.len, 7);
    assert_memory_equal(map.bytes.ptr, "seven b", 7);
    file_unmap(&map);
    assert_null(map.bytes.ptr);
    assert_true(file_map(&map, "empty", &fixture->work.diags));
    assert_null(map.bytes.ptr);
    assert_int_equal(map.bytes.len, 0);
    file_unmap(&map);
    assert_false(diags_failed(&fixture->work.diags));
    unlink("m");
    unlink("empty");
}

/* Opening a FIFO that nobody writes to would wait for ever. */
static void test_map_refuses(void **state) {
    Fixture *fixture = *state;
    FileMap map;
    Diags *diags = &fixture->work.diags;
    static const struct {
        const char *path, *got;
    } cases[] = {
        {"absent", "No such file or directory"}, {"fifo", "not a regular file"},     {"folder", "not a regular file"},
        {"/dev/null", "not a regular file"},     {"file/inside", "Not a directory"},
    };
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_int_equal(mkdir("folder", 0700), 0);
    put("file", "x");
    alarm(20);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_false(file_map(&map, cases[i].path, diags));
        assert_int_equal(diags->count[DIAG_ERROR], i + 1);
        assert_string_equal(diags->last->text.place, cases[i].path);
        assert_string_equal(diags->last->text.got, cases[i].got);
    }
    alarm(0);
    unlink("fifo");
    unlink("file");
    rmdir("folder");
}

static void test_out_appears_at_commit(void **state) {
    Fixture *fixture = *state;
    FileOut out;
    put("plan", "old");
    assert_true(file_out_open(&out, "plan", &fixture->work.diags));
    fputs("new and longer", out.stream);
    fflush(out.stream);
    expect_content("plan", "old");
    assert_int_equal(count_files(), 2);
    assert_true(file_out_commit(&out, &fixture->work.diags));
    expect_content("plan", "new and longer");
    assert_int_equal(count_files(), 1);
    unlink("plan");
}

/* What a link leads to is replaced, with its mode; the link stays. A name as long as the file system takes is fine. */
static void test_out_through_link(void **state) {
    Fixture *fixture = *state;
    FileOut out;
    struct stat info;
    char name[251];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    put(name, "old");
    assert_int_equal(chmod(name, 0600), 0);
    assert_int_equal(symlink(name, "link"), 0);
    assert_true(file_is_same("link", name));
    assert_true(file_out_open(&out, "link", &fixture->work.diags));
    fputs("new", out.stream);
    assert_true(file_out_commit(&out, &fixture->work.diags));
    expect_content(name, "new");
    assert_int_equal(lstat("link", &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(stat(name, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    unlink("link");
    assert_false(file_is_same("link", name));
    unlink(name);
}

static void test_out_abandoned(void **state) {
    Fixture *fixture = *state;
    FileOut out;
    put("plan", "old");
    assert_true(file_out_open(&out, "plan", &fixture->work.diags));
    fputs("half", out.stream);
    file_out_abandon(&out);
    expect_content("plan", "old");
    assert_int_equal(count_files(), 1);
    unlink("plan");
    assert_true(file_out_open(&out, "plan", &fixture->work.diags));
    file_out_abandon(&out);
    assert_int_equal(count_files(), 0);
}

/* A device is written in place and never renamed over. */
static void test_out_to_device(void **state) {
    Fixture *fixture = *state;
    FileOut out;
    struct stat info;
    assert_true(file_out_open(&out, "/dev/null", &fixture->work.diags));
    assert_null(out.temporary);
    fputs("text", out.stream);
    assert_true(file_out_commit(&out, &fixture->work.diags));
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
}

static void test_out_refused(void **state) {
    Fixture *fixture = *state;
    FileOut out;
    assert_false(file_out_open(&out, "absent/plan", &fixture->work.diags));
    assert_string_equal(fixture->work.diags.last->text.got, "No such file or directory");
    assert_int_equal(mkdir("folder", 0700), 0);
    bool is_open = file_out_open(&out, "folder", &fixture->work.diags);
    if (is_open) {
        assert_false(file_out_commit(&out, &fixture->work.diags));
    }
    assert_int_equal(fixture->work.diags.count[DIAG_ERROR], 2);
    assert_int_equal(count_files(), 1);
    rmdir("folder");
}

/* Leaves no room in the arena's block: the next allocation asks the allocator. */
static void fill(Work *work) {
    if (setjmp(work->escape) == 0) {
        for (;;) {
            arena_alloc(&work->keep, 1, 1);
        }
    }
}

/* Memory runs out while the message of a failed commit is made: the temporary file is gone all the same. */
static void test_commit_fails_without_memory(void **state) {
    (void)state;
    Work work;
    FileOut out;
    CountingAllocator counter = {0};
    s0_allocator allocator = counting_allocator(&counter);
    work_init(&work, &allocator);
    assert_true(file_out_open(&out, "plan", &work.diags));
    assert_int_equal(mkdir("plan", 0700), 0); /* a rename over a folder fails */
    assert_int_equal(count_files(), 2);
    counter.fail_at = counter.calls + 1;
    fill(&work);
    counter.fail_at = counter.calls + 1;
    if (setjmp(work.escape) == 0) {
        file_out_commit(&out, &work.diags);
        fail_msg("the message needed no memory");
    }
    assert_int_equal(count_files(), 1);
    work_free(&work);
    rmdir("plan");
}

/* A limit on the size of files, with its signal ignored, is a disk that is full. */
static void test_full_disk(void **state) {
    Fixture *fixture = *state;
    FileOut out;
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_true(file_out_open(&out, "full", &fixture->work.diags));
    fputs("text", out.stream);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, before.rlim_max}), 0);
    bool is_committed = file_out_commit(&out, &fixture->work.diags);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_false(is_committed);
    assert_string_equal(fixture->work.diags.last->text.got, "File too large");
    assert_int_equal(count_files(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_map, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_map_refuses, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_out_appears_at_commit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_out_through_link, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_out_abandoned, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_out_to_device, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_out_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_commit_fails_without_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_full_disk, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
