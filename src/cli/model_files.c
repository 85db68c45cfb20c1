/* The files of a model, for as long as a command runs. */
#include "cli/model_files.h"

static void close_files(void *files) {
    import_close(files);
}

ModelFiles *cli_model_files(Cli *cli) {
    ModelFiles *files = arena_new(&cli->work.keep, ModelFiles);
    cli->owned = files;
    cli->release = close_files;
    return files;
}
