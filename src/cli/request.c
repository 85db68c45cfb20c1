/* Bindings of dimensions and layouts; the files of a model. */
#include "cli/request.h"

bool cli_split_binding(const char *text, Str *name, Str *value) {
    Str whole = str_from(text);
    size_t end = whole.len;
    while (end > 0 && whole.ptr[end - 1] != '=') {
        end--;
    }
    if (end <= 1 || end == whole.len) {
        return false;
    }
    *name = (Str){whole.ptr, end - 1};
    *value = (Str){whole.ptr + end, whole.len - end};
    return true;
}

bool cli_parse_dims(Work *work, const Texts *texts, Request *request) {
    request->dims = arena_array(&work->keep, DimBinding, texts->count);
    for (size_t i = 0; i < texts->count; i++) {
        if (!dim_binding_parse(str_from(texts->item[i]), &request->dims[i], &work->diags)) {
            return false;
        }
    }
    request->dim_count = texts->count;
    return true;
}

bool cli_parse_layouts(Work *work, const Texts *texts, Request *request) {
    request->layouts = arena_array(&work->keep, LayoutBinding, texts->count);
    for (size_t i = 0; i < texts->count; i++) {
        Str tensor = {0};
        Str order = {0};
        bool is_binding = cli_split_binding(texts->item[i], &tensor, &order);
        bool is_channel_second = str_eq(order, STR("NCHW"));
        if (!is_binding || (!is_channel_second && !str_eq(order, STR("NHWC")))) {
            return diag_error(&work->diags, (DiagText){.place = "option --layout",
                                                       .what = "the value can't be used",
                                                       .got = texts->item[i],
                                                       .expected = "TENSOR=NCHW or TENSOR=NHWC"});
        }
        request->layouts[i] = (LayoutBinding){.tensor = tensor, .is_channel_second = is_channel_second};
    }
    request->layout_count = texts->count;
    return true;
}

static void close_files(void *files) {
    import_close(files);
}

ModelFiles *cli_model_files(Cli *cli) {
    ModelFiles *files = arena_new(&cli->work.keep, ModelFiles);
    cli->owned = files;
    cli->release = close_files;
    return files;
}
