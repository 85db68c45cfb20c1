/* Proves that external data is read from the model's folder, each file mapped once, and that nothing outside is: no
 * symbolic link is followed, and offset and length are held against the file. Files are made in a temporary folder. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include "import/import.h"
#include "onnx_bytes.h"
#include "support/work.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define MODEL(entries) "1:8 8{2:13} 7{ 5{1:2 2:3 8'w' 14:1 " entries "} 1{1'w' 2'y' 4'Identity'} 12{1'y'} }"
#define TWO_TENSORS                                                                                                    \
    "1:8 8{2:13} 7{ 5{1:2 2:3 8'w' 14:1 13{1'location' 2'data.bin'} 13{1'offset' 2'1'} 13{1'length' 2'2'}}"            \
    "5{1:1 2:3 8'v' 14:1 13{1'location' 2'data.bin'}} 1{1'w' 1'v' 2'y' 4'Add'} 12{1'y'} }"

static char folder[] = "/tmp/stride0-external-XXXXXX";

static const char *in_folder(char *path, size_t size, const char *name) {
    snprintf(path, size, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const void *data, size_t len) {
    char path[256];
    FILE *out = fopen(in_folder(path, sizeof path, name), "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(data, 1, len, out), len);
    fclose(out);
}

static int make_folder(void **state) {
    (void)state;
    char path[256];
    if (mkdtemp(folder) == NULL || mkdir(in_folder(path, sizeof path, "sub"), 0700) != 0) {
        return -1;
    }
    write_file("data.bin", "abc", 3);
    write_file("sub/more.bin", "de", 2);
    return symlink("data.bin", in_folder(path, sizeof path, "link.bin")) |
           symlink("/etc", in_folder(path, sizeof path, "out"));
}

static int remove_folder(void **state) {
    (void)state;
    static const char *const names[] = {"data.bin", "sub/more.bin", "link.bin", "out", "model.onnx"};
    char path[256];
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        unlink(in_folder(path, sizeof path, names[k]));
    }
    rmdir(in_folder(path, sizeof path, "sub"));
    return rmdir(folder);
}

static Graph *import_text(Work *work, ModelFiles *files, const char *text) {
    char path[256];
    OnnxBytes bytes = {.len = 0};
    put_fields(&bytes, text);
    write_file("model.onnx", bytes.data, bytes.len);
    return import_model(work, in_folder(path, sizeof path, "model.onnx"), files);
}

static Span bytes_of(const Graph *graph, const char *name) {
    for (uint32_t v = 0; v < graph->value_count; v++) {
        if (str_eq(graph->values[v].name, str_from(name))) {
            return graph->values[v].constant->bytes;
        }
    }
    return (Span){0};
}

static void test_two_tensors_one_file(void **state) {
    (void)state;
    Work work;
    ModelFiles files = {0};
    WORK_BEGIN(&work);
    const Graph *graph = import_text(&work, &files, TWO_TENSORS);
    assert_non_null(graph);
    Span w = bytes_of(graph, "w");
    Span v = bytes_of(graph, "v");
    assert_int_equal(w.len, 2);
    assert_memory_equal(w.ptr, "bc", 2);
    assert_int_equal(v.len, 1);
    assert_ptr_equal(v.ptr + 1, w.ptr); /* one mapping, not copied */
    assert_int_equal(files.count, 2);   /* the model and the data */
    import_close(&files);
    work_free(&work);
}

static const struct {
    const char *model;
    const char *message; /* null: it is read */
} cases[] = {
    {MODEL("13{1'location' 2'sub/more.bin'}"), NULL},
    {MODEL("13{1'location' 2'./data.bin'} 13{1'checksum' 2'x'}"), NULL},
    {MODEL("13{1'location' 2'link.bin'}"), "symbolic link"},
    {MODEL("13{1'location' 2'out/passwd'}"), "symbolic link"},
    {MODEL("13{1'location' 2'sub/../data.bin'}"), "may leave"},
    {MODEL("13{1'location' 2'sub'}"), "not a regular file"},
    {MODEL("13{1'location' 2'data.bin'} 13{1'offset' 2'2'}"), "2 bytes from byte 2"},
    {MODEL("13{1'location' 2'data.bin'} 13{1'offset' 2'18446744073709551615'}"), "outside its file"},
    {MODEL("13{1'location' 2'data.bin'} 13{1'length' 2'3'}"), "length 3"},
};

static void test_locations(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        Work work;
        ModelFiles files = {0};
        WORK_BEGIN(&work);
        bool is_read = import_text(&work, &files, cases[k].model) != NULL;
        char *message = messages_of(&work);
        bool agrees = cases[k].message == NULL ? is_read : !is_read && strstr(message, cases[k].message) != NULL;
        if (!agrees) {
            print_error("%s\n%s", cases[k].model, message);
        }
        free(message);
        import_close(&files);
        work_free(&work);
        assert_true(agrees);
    }
}

/* What is not a model says what it looks like. */
static void test_strangers(void **state) {
    static const struct {
        const char *content, *message;
    } strangers[] = {
        {"", "an empty file"},
        {"version https://git-lfs.github.com/spec/v1\n", "git-lfs pointer"},
        {"<!DOCTYPE html>", "HTML"},
        {"\211PNG\r\n\032\n", "PNG image"},
        {"PK\003\004", "ZIP archive"},
        {"hello, I am no model", "text that begins with"},
        {"\376\355\372\316", "bytes that begin with fe ed fa ce"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof strangers / sizeof strangers[0]; k++) {
        Work work;
        ModelFiles files = {0};
        char path[256];
        WORK_BEGIN(&work);
        write_file("model.onnx", strangers[k].content, strlen(strangers[k].content));
        assert_null(import_model(&work, in_folder(path, sizeof path, "model.onnx"), &files));
        assert_int_equal(work.diags.count[DIAG_ERROR], 1);
        assert_non_null(strstr(work.diags.first->text.got, strangers[k].message));
        assert_non_null(strstr(work.diags.first->text.expected, "ONNX"));
        import_close(&files);
        work_free(&work);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_tensors_one_file),
        cmocka_unit_test(test_locations),
        cmocka_unit_test(test_strangers),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
