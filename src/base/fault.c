/* Our own faults. */
#include "base/fault.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void fault(const char *file, int line, const char *condition) {
    fprintf(stderr,
            "stride0: internal fault at %s:%d: %s does not hold.\n"
            "This is a fault of stride0, not of your input; please report it with the command line.\n",
            file, line, condition);
    abort();
}
