/* Names, as docs/json.md lists them. */
#include "plan/plan.h"

const char *buffer_kind_name(BufferKind kind) {
    static const char *const name[] = {"input", "activation", "output", "weight", "parameter", "state", "workspace"};
    return name[kind];
}

const char *column_name(Column column) {
    static const char *const name[] = {"load_input", "load_param", "multiply", "add", "requantize",
                                       "compute",    "store",      "copy",     "fill"};
    return name[column];
}

const char *broadcast_name(Broadcast broadcast) {
    static const char *const name[] = {NULL, "scalar", "channel", "row", "full", "partial"};
    return name[broadcast];
}

const char *alias_reason_name(AliasReason reason) {
    static const char *const name[] = {NULL, "view", "in_place", "concat", "split", "into_consumer"};
    return name[reason];
}

const char *alias_refusal_name(AliasRefusal refusal) {
    static const char *const name[] = {NULL,     "later_reader",  "graph_output", "pinned",  "constant", "dtype",
                                       "layout", "element_order", "broadcast",    "smaller", "state",    "operator"};
    return name[refusal];
}
