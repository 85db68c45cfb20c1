/* Our own faults: checks that stay on in release builds. An input can never trip one; if one trips, stride0 is wrong.
 */
#ifndef S0_BASE_FAULT_H
#define S0_BASE_FAULT_H

/* Ends the program with file, line, the broken condition and a request to report it. */
_Noreturn void fault(const char *file, int line, const char *condition);

#define CHECK(condition) ((condition) ? (void)0 : fault(__FILE__, __LINE__, #condition))

#endif
