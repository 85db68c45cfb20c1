/* Guards: when a case of a contract holds. 'and' binds tighter than 'or', so a guard is a list of comparisons that 'or'
 * cuts into groups, and it holds where all of one group hold. */
#include "layout/contract_scan.h"

/* ---- Parsing */

static bool parse_var(Scan *scan, uint32_t *var) {
    Dim dim;
    size_t begin = scan->at;
    if (scan_accept_word(scan, "bits")) {
        *var = GUARD_BITS;
        return true;
    }
    if (scan_accept_word(scan, "rank")) {
        *var = GUARD_RANK;
        return true;
    }
    if (!scan_accept_dim(scan, &dim)) {
        return scan_error(scan, begin, "unknown variable in a guard", "N, C, H, W, O, I, bits or rank");
    }
    *var = (uint32_t)dim;
    return true;
}

static bool parse_op(Scan *scan, CompareOp *op) {
    static const struct {
        const char *token;
        CompareOp op;
    } table[] = {{"==", COMPARE_EQ}, {"!=", COMPARE_NE}, {"<=", COMPARE_LE},
                 {">=", COMPARE_GE}, {"<", COMPARE_LT},  {">", COMPARE_GT}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (scan_accept(scan, table[i].token)) {
            *op = table[i].op;
            return true;
        }
    }
    *op = COMPARE_IN;
    return scan_accept_word(scan, "in") ||
           scan_error(scan, scan->at, "a comparison is missing", "==, !=, <, <=, >, >= or in");
}

static bool parse_set(Scan *scan, Compare *compare) {
    size_t capacity = 0;
    if (!scan_accept(scan, "{")) {
        return scan_error(scan, scan->at, "a set is missing behind 'in'", "{1,3,4}");
    }
    do {
        scan_space(scan);
        uint64_t value;
        if (!scan_expect_number(scan, 0, &value)) {
            return false;
        }
        compare->value =
            arena_grow(scan->arena, compare->value, compare->value_count, &capacity, sizeof *compare->value);
        compare->value[compare->value_count++] = value;
        scan_space(scan);
    } while (scan_accept(scan, ","));
    return scan_accept(scan, "}") || scan_error(scan, scan->at, "the set does not end", "',' or '}'");
}

static bool parse_compare(Scan *scan, Compare *compare) {
    scan_space(scan);
    if (!parse_var(scan, &compare->var)) {
        return false;
    }
    scan_space(scan);
    if (!parse_op(scan, &compare->op)) {
        return false;
    }
    scan_space(scan);
    if (compare->op == COMPARE_IN) {
        return parse_set(scan, compare);
    }
    compare->value = arena_new(scan->arena, uint64_t);
    compare->value_count = 1;
    return scan_expect_number(scan, 0, compare->value);
}

bool guard_parse(Scan *scan, Guard *guard) {
    size_t capacity = 0;
    bool starts_or = false;
    for (;;) {
        Compare compare = {.starts_or = starts_or};
        if (!parse_compare(scan, &compare)) {
            return false;
        }
        guard->compare = arena_grow(scan->arena, guard->compare, guard->count, &capacity, sizeof *guard->compare);
        guard->compare[guard->count++] = compare;
        scan_space(scan);
        if (scan_accept(scan, ":")) {
            return true;
        }
        starts_or = scan_accept_word(scan, "or");
        if (!starts_or && !scan_accept_word(scan, "and")) {
            return scan_error(scan, scan->at, "the guard does not end", "':', 'and' or 'or'");
        }
    }
}

/* ---- Deciding */

static uint64_t value_of_var(uint32_t var, const LayoutShape *shape) {
    switch (var) {
    case GUARD_BITS:
        return shape->bits;
    case GUARD_RANK:
        return shape->rank;
    default:
        return shape->extent[var];
    }
}

static bool is_in(const Compare *compare, uint64_t value) {
    for (size_t i = 0; i < compare->value_count; i++) {
        if (compare->value[i] == value) {
            return true;
        }
    }
    return false;
}

static bool compare_holds(const Compare *compare, const LayoutShape *shape) {
    uint64_t left = value_of_var(compare->var, shape);
    uint64_t right = compare->value[0];
    switch (compare->op) {
    case COMPARE_EQ:
        return left == right;
    case COMPARE_NE:
        return left != right;
    case COMPARE_LT:
        return left < right;
    case COMPARE_LE:
        return left <= right;
    case COMPARE_GT:
        return left > right;
    case COMPARE_GE:
        return left >= right;
    case COMPARE_IN:
        return is_in(compare, left);
    }
    return false;
}

bool guard_holds(const Guard *guard, const LayoutShape *shape) {
    bool all = true;
    for (size_t i = 0; i < guard->count; i++) {
        if (guard->compare[i].starts_or) {
            if (all) {
                return true;
            }
            all = true;
        }
        all = all && compare_holds(&guard->compare[i], shape);
    }
    return all;
}
