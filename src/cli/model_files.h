/* The files of a model, for as long as a command runs. */
#ifndef S0_CLI_MODEL_FILES_H
#define S0_CLI_MODEL_FILES_H

#include "cli/cli.h"
#include "import/import.h"

/* Closed when the command ends, whatever happens. */
ModelFiles *cli_model_files(Cli *cli);

#endif
