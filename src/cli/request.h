/* What the user says about a model, from its options to a Request. */
#ifndef S0_CLI_REQUEST_H
#define S0_CLI_REQUEST_H

#include "cli/cli.h"
#include "stages.h"

/* --dim NAME=VALUE and INPUT:AXIS=VALUE. False with a diagnostic. */
bool cli_parse_dims(Work *work, const Texts *texts, Request *request);

/* --layout TENSOR=NCHW|NHWC. False with a diagnostic. */
bool cli_parse_layouts(Work *work, const Texts *texts, Request *request);

/* Cuts "name=value" at the last '=', for names of tensors may have some. False where there is none or a part is empty.
 */
bool cli_split_binding(const char *text, Str *name, Str *value);

/* Files of a model: closed when the command ends, whatever happens. */
ModelFiles *cli_model_files(Cli *cli);

#endif
