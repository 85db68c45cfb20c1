/* The runs that moving a box takes.
 *
 * An index of a box is a list of digits, and each adds a multiple of its value to the address in `to` and in `from`. In
 * the order of `to`'s addresses the indices are the leaves of a tree with a level a digit. Values of one digit below
 * which the same indices are left lead to equal subtrees, which only stand elsewhere: such a subtree is walked once.
 * What is known of it is a Trail: its first and its last run, which neighbours may make longer, and the cost of those
 * between. Trails are appended; n equal ones by doubling. */
#include "layout/runs.h"

#include "base/checked.h"
#include "base/fault.h"
#include "layout/terms.h"

/* ---- Digits: what each adds on both sides */

/* Two lists of divs cut each other. */
enum { MAX_DIGITS = 2 * MAX_TERMS };

typedef struct {
    Dim dim;
    uint64_t div, count;         /* values 0 .. count - 1 */
    uint64_t to_bits, from_bits; /* that one step adds */
    bool is_walked;              /* a step adds to `from` what the whole index decides */
    bool is_last;                /* no digit of this dimension follows */
} Digit;

typedef struct {
    Digit digit[MAX_DIGITS];     /* by falling address in `to` */
    uint32_t by_div[MAX_DIGITS]; /* numbers of digits, div falling */
    uint32_t count;
    Terms to, from;
    uint64_t last[DIM_COUNT]; /* indices of the box, from its first on */
    bool repeats[DIM_COUNT];  /* in `from` */
} Digits;

/* Divs past the last index give digits that are always 0. */
static bool is_seen(const Digits *digits, const ViewLevel *term, uint32_t dim) {
    return term->dim == (Dim)dim && term->div <= digits->last[dim];
}

/* Do the divs of both sides divide one another? */
static bool divide_each_other(const Digits *digits, uint32_t dim) {
    for (uint32_t a = 0; a < digits->to.count; a++) {
        for (uint32_t b = 0; b < digits->from.count; b++) {
            const ViewLevel *to = &digits->to.item[a], *from = &digits->from.item[b];
            if (is_seen(digits, to, dim) && is_seen(digits, from, dim) && to->div % from->div != 0 &&
                from->div % to->div != 0) {
                return false;
            }
        }
    }
    return true;
}

/* What one step of `position` in the index adds in `from`. */
static uint64_t from_step(const Digits *digits, uint32_t dim, uint64_t position) {
    for (uint32_t k = 0; k < digits->from.count; k++) {
        const ViewLevel *term = &digits->from.item[k];
        uint64_t steps = position / term->div;
        if (term->dim == (Dim)dim && steps > 0 && (term->mod == 0 || steps < term->mod)) {
            return term->stride_bits * steps;
        }
    }
    return 0; /* a dimension of one element */
}

/* The part of a term's digit from `div` up to `end`; end 0: there is none. */
static void push_digit(Digits *digits, const ViewLevel *term, uint64_t div, uint64_t end, bool is_walked) {
    uint64_t last = digits->last[term->dim];
    uint64_t count = end == 0 || end > last ? last / div + 1 : end / div;
    if (count <= 1) {
        return;
    }
    CHECK(digits->count < MAX_DIGITS);
    digits->digit[digits->count++] = (Digit){.dim = term->dim,
                                             .div = div,
                                             .count = count,
                                             .to_bits = term->stride_bits * (div / term->div),
                                             .from_bits = is_walked ? 0 : from_step(digits, term->dim, div),
                                             .is_walked = is_walked};
}

/* The digit of a term of `to`, cut where one of `from` begins. */
static void push_term(Digits *digits, const ViewLevel *term, bool is_walked) {
    uint64_t end = term->mod == 0 ? 0 : term->div * term->mod;
    uint64_t cut = end;
    do {
        end = cut;
        cut = term->div;
        for (uint32_t k = 0; k < digits->from.count && !is_walked && !digits->repeats[term->dim]; k++) {
            uint64_t div = digits->from.item[k].div;
            bool is_inside = div > cut && (end == 0 || div < end);
            cut = is_inside && is_seen(digits, &digits->from.item[k], term->dim) ? div : cut;
        }
        push_digit(digits, term, cut, end, is_walked);
    } while (cut > term->div);
}

static void sort_by_div(Digits *digits) {
    for (uint32_t k = 0; k < digits->count; k++) {
        uint32_t at = k;
        while (at > 0 && digits->digit[digits->by_div[at - 1]].div < digits->digit[k].div) {
            digits->by_div[at] = digits->by_div[at - 1];
            at--;
        }
        digits->by_div[at] = k;
    }
}

/* No step of `to` is shorter than what lies inside it: so addresses rise with the digits, the first counting most. */
static void check_order(const Digits *digits, uint64_t element_bits) {
    uint64_t inside_bits = element_bits;
    for (uint32_t k = digits->to.count; k-- > 0;) {
        const ViewLevel *term = &digits->to.item[k];
        uint64_t most = digits->last[term->dim] / term->div;
        most = term->mod == 0 || most < term->mod ? most : term->mod - 1;
        CHECK(most == 0 || term->stride_bits >= inside_bits);
        inside_bits += most * term->stride_bits;
    }
}

static void set_digits(Digits *digits) {
    bool is_walked[DIM_COUNT];
    bool is_closed[DIM_COUNT] = {false};
    for (uint32_t d = 0; d < DIM_COUNT; d++) {
        is_walked[d] = !digits->repeats[d] && !divide_each_other(digits, d);
    }
    for (uint32_t k = 0; k < digits->to.count; k++) {
        const ViewLevel *term = &digits->to.item[k];
        push_term(digits, term, is_walked[term->dim]);
    }
    for (uint32_t k = digits->count; k-- > 0;) {
        digits->digit[k].is_last = !is_closed[digits->digit[k].dim];
        is_closed[digits->digit[k].dim] = true;
    }
    sort_by_div(digits);
}

/* ---- Trails */

typedef struct {
    uint64_t to, from;
} Place;

/* The runs of a piece of the tree, in the order of `to`. */
typedef struct {
    uint64_t runs;                 /* 0: nothing yet */
    uint64_t first_bits, end_bits; /* of the first run and of the last, which may be one */
    Place begin, end;              /* of the first run and of the last */
    RunCost between;               /* of the others; descriptors unused */
} Trail;

typedef struct {
    const Digits *digits;
    const RunRule *rule;
    uint64_t element_bits;
    uint64_t limit[DIM_COUNT]; /* the most that the digits to come may add up to */
    uint64_t index[DIM_COUNT]; /* sum of the digits so far */
    bool fits;                 /* all sums */
} Walk;

static Place place_after(Place at, Place step, uint64_t steps) {
    return (Place){at.to + step.to * steps, at.from + step.from * steps};
}

static Trail trail_moved(Trail trail, Place step, uint64_t steps) {
    trail.begin = place_after(trail.begin, step, steps);
    trail.end = place_after(trail.end, step, steps);
    return trail;
}

static void add_cost(Walk *walk, RunCost *sum, const RunCost *more) {
    walk->fits = walk->fits && checked_add(sum->bursts, more->bursts, &sum->bursts) &&
                 checked_add(sum->burst_bytes_moved, more->burst_bytes_moved, &sum->burst_bytes_moved);
}

/* A run that will not become longer. */
static void close_run(Walk *walk, RunCost *sum, uint64_t bits) {
    const RunRule *rule = walk->rule;
    uint64_t bytes = 0;
    RunCost cost = {.bursts = 1};
    walk->fits = walk->fits && checked_round_up(bytes_from_bits(bits), rule->align_bytes, &bytes);
    bytes = bytes < rule->min_bytes ? rule->min_bytes : bytes;
    if (rule->burst_bytes != 0) {
        cost.bursts = ceil_div(bytes, rule->burst_bytes);
        walk->fits = walk->fits && checked_mul(cost.bursts, rule->burst_bytes, &bytes);
    }
    cost.burst_bytes_moved = bytes;
    add_cost(walk, sum, &cost);
}

/* `next` stands behind `trail` in `to`. */
static void append(Walk *walk, Trail *trail, const Trail *next) {
    bool joins = trail->end.to == next->begin.to && trail->end.from == next->begin.from;
    bool is_one = trail->runs == 1, next_is_one = next->runs == 1;
    uint64_t joint_bits = trail->end_bits + next->first_bits;
    if (trail->runs == 0) {
        *trail = *next;
        return;
    }
    add_cost(walk, &trail->between, &next->between);
    if (!joins && !is_one) {
        close_run(walk, &trail->between, trail->end_bits);
    }
    if (!joins && !next_is_one) {
        close_run(walk, &trail->between, next->first_bits);
    }
    if (joins && !is_one && !next_is_one) {
        close_run(walk, &trail->between, joint_bits);
    }
    trail->first_bits = joins && is_one ? joint_bits : trail->first_bits;
    trail->end_bits = joins && next_is_one ? joint_bits : next->end_bits;
    trail->runs += next->runs - (joins ? 1 : 0);
    trail->end = next->end;
}

/* `trail` and n - 1 more like it, each a step behind the one before, go behind `all`. */
static void append_times(Walk *walk, Trail *all, Trail trail, uint64_t n, Place step) {
    uint64_t done = 0; /* trails of this group in `all` */
    for (uint64_t power = 1; n > 0; power *= 2) {
        if (n % 2 == 1) {
            Trail moved = trail_moved(trail, step, done);
            append(walk, all, &moved);
            done += power;
        }
        n /= 2;
        if (n > 0) {
            Trail moved = trail_moved(trail, step, power);
            append(walk, &trail, &moved);
        }
    }
}

/* ---- The tree */

/* The largest sum of the digits of `dim` behind number `at` that is not above `rest`. */
static uint64_t find_limit(const Digits *digits, uint32_t at, Dim dim, uint64_t rest) {
    uint64_t sum = 0;
    for (uint32_t k = 0; k < digits->count; k++) {
        uint32_t number = digits->by_div[k];
        const Digit *digit = &digits->digit[number];
        if (number > at && digit->dim == dim) {
            uint64_t value = (rest - sum) / digit->div;
            sum += (value < digit->count ? value : digit->count - 1) * digit->div;
        }
    }
    return sum;
}

/* The values from `value` on that leave the same limit to the digits to come end before this one. The limit changes
 * only at the limit's own digit. */
static uint64_t find_group_end(const Digits *digits, uint32_t at, uint64_t limit, uint64_t value) {
    const Digit *digit = &digits->digit[at];
    uint64_t own = limit / digit->div % digit->count;
    uint64_t most = limit / digit->div;
    uint64_t count = most < digit->count ? most + 1 : digit->count;
    uint64_t end = value;
    if (digit->is_walked) {
        return value + 1;
    }
    uint64_t left = find_limit(digits, at, digit->dim, limit - value * digit->div);
    do {
        end = end < own ? own : end == own ? own + 1 : count;
    } while (end < count && find_limit(digits, at, digit->dim, limit - end * digit->div) == left);
    return end;
}

static Trail find_trail(Walk *walk, uint32_t at) {
    const Digits *digits = walk->digits;
    const Digit *digit = &digits->digit[at];
    Trail all = {.runs = 0};
    if (at == digits->count) {
        uint64_t bits = walk->element_bits;
        return (Trail){.runs = 1, .first_bits = bits, .end_bits = bits, .end = {bits, bits}};
    }
    uint64_t limit = walk->limit[digit->dim], index = walk->index[digit->dim];
    uint64_t end;
    for (uint64_t value = 0; value < digit->count && value <= limit / digit->div; value = end) {
        Place step = {digit->to_bits, digit->from_bits};
        end = find_group_end(digits, at, limit, value);
        walk->limit[digit->dim] = find_limit(digits, at, digit->dim, limit - value * digit->div);
        walk->index[digit->dim] = index + value * digit->div;
        Trail trail = trail_moved(find_trail(walk, at + 1), step, value);
        if (digit->is_walked && digit->is_last) {
            const Terms *from = &digits->from;
            trail = trail_moved(
                trail, (Place){0, terms_bits_at(from->item, from->count, digit->dim, walk->index[digit->dim])}, 1);
        }
        append_times(walk, &all, trail, end - value, step);
    }
    walk->limit[digit->dim] = limit;
    walk->index[digit->dim] = index;
    return all;
}

/* ---- Costs */

static void check_box(const View *view, const ViewBox *box) {
    for (int d = 0; d < DIM_COUNT; d++) {
        CHECK(box->first[d] % view_grain(view, (Dim)d) == 0);
        CHECK(box->first[d] <= view->shape.extent[d]);
        CHECK(box->extent[d] <= view->shape.extent[d] - box->first[d]);
    }
}

/* Lanes are laid end to end with a byte between them, so no run leaves its lane. */
static bool lay_apart(const View *view, Terms *terms) {
    uint64_t lane_bits;
    return checked_add(view->bank_bytes * 8, 8, &lane_bits) && terms_lay_lanes(view, lane_bits, terms);
}

bool view_run_cost(const View *to, const ViewBox *to_box, const View *from, const ViewBox *from_box,
                   const RunRule *rule, RunCost *cost) {
    Digits digits = {.count = 0};
    Walk walk = {.digits = &digits, .rule = rule, .element_bits = to->shape.bits, .fits = true};
    *cost = (RunCost){0};
    check_box(to, to_box);
    check_box(from, from_box);
    CHECK(to->shape.bits == from->shape.bits && rule->align_bytes > 0 && rule->min_bytes > 0);
    bool is_empty = false;
    for (int d = 0; d < DIM_COUNT; d++) {
        CHECK(to_box->extent[d] == from_box->extent[d] && !to->repeats[d]);
        is_empty = is_empty || to_box->extent[d] == 0;
        digits.last[d] = to_box->extent[d] - 1;
        digits.repeats[d] = from->repeats[d];
        walk.limit[d] = digits.last[d];
    }
    if (is_empty) {
        return true;
    }
    if (!lay_apart(to, &digits.to) || !lay_apart(from, &digits.from)) {
        return false;
    }
    set_digits(&digits);
    check_order(&digits, to->shape.bits);
    Trail trail = find_trail(&walk, 0);
    *cost = (RunCost){.descriptors = trail.runs};
    add_cost(&walk, cost, &trail.between);
    close_run(&walk, cost, trail.first_bits);
    if (trail.runs > 1) {
        close_run(&walk, cost, trail.end_bits);
    }
    return walk.fits;
}
