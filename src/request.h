/* What the user asks for, from words to a Request: the command's options and the fields of the public API are read
 * here, and messages call either by the option's name. */
#ifndef S0_REQUEST_H
#define S0_REQUEST_H

#include "stages.h"

/* The words of --strategy, ended by null. */
extern const char *const request_strategies[];

/* Of --schedule. */
extern const char *const request_schedules[];

/* Of --expand. */
extern const char *const request_expands[];

/* Of --parameters. */
extern const char *const request_parameters[];

/* Of --order. */
extern const char *const request_orders[];

/* The diagnostic about an option's value; always false. */
bool request_bad_value(Work *work, const char *option, const char *got, const char *expected);

/* Reads every field but the device, which may be absent. False with a diagnostic. */
bool request_read(const s0_plan_options *options, Request *request, Work *work);

/* What is asked for, and is no default, as the command line says it: "--strategy=full", ended by null. Model and device
 * apart, and what only `simplify` and the library can ask. */
const char *const *request_texts(const Request *request, Arena *arena);

/* The same for a plan, which needs a device. */
bool request_read_plan(const s0_plan_options *options, Request *request, Work *work);

#endif
