/* The form that most channels share, and which don't. */
#include "prepare/node16.h"

#include "base/fault.h"

static size_t count_joining(const Node16 *node, const Form16 *form) {
    size_t count = 0;
    for (size_t c = 0; c < node->channels; c++) {
        count += form16_joins(&node->form[c], form) ? 1 : 0;
    }
    return count;
}

/* Of the first channel of a kind that a kernel computes and is shared most. Null where there is none. */
static const Form16 *most_shared(const Node16 *node) {
    const Form16 *best = NULL;
    size_t most = 0;
    for (int kind = 0; kind < FORM16_CHAIN; kind++) {
        size_t c = 0;
        while (c < node->channels && (int)node->form[c].kind != kind) {
            c++;
        }
        size_t joining = c == node->channels ? 0 : count_joining(node, &node->form[c]);
        if (joining > most) {
            most = joining;
            best = &node->form[c];
        }
    }
    return best;
}

/* Null: of each that is REAL, whatever it shares. */
static bool is_shared_by(const Form16 *form, const Form16 *shared) {
    return shared == NULL ? form->kind == FORM16_REAL : form16_joins(form, shared);
}

static S0Reals16 share_reals(const Node16 *node, const Form16 *shared, Arena *arena) {
    float *number[4];
    for (int k = 0; k < 4; k++) {
        number[k] = arena_array(arena, float, node->channels);
    }
    for (size_t c = 0; c < node->channels; c++) {
        const Form16 *form = &node->form[c];
        bool is_shared = is_shared_by(form, shared);
        number[0][c] = is_shared ? form->weight : 0;
        number[1][c] = is_shared ? form->offset : 0;
        number[2][c] = is_shared ? form->scale : 0;
        number[3][c] = is_shared ? form->bias : 0;
    }
    S0Codes codes = shared == NULL ? node->form[0].codes : shared->codes;
    return (S0Reals16){node->channels, number[0], number[1], number[2], number[3], codes};
}

static S0Quotients16 share_quotients(const Node16 *node, const Form16 *shared, Arena *arena) {
    float *divisor = arena_array(arena, float, node->channels);
    for (size_t c = 0; c < node->channels; c++) {
        divisor[c] = form16_joins(&node->form[c], shared) ? node->form[c].divisor : 1;
    }
    return (S0Quotients16){share_reals(node, shared, arena), divisor};
}

static S0Fixed16 share_fixed(const Node16 *node, const Form16 *shared, Arena *arena) {
    int32_t *weight = arena_array(arena, int32_t, node->channels);
    int32_t *offset = arena_array(arena, int32_t, node->channels);
    S0Multiplier *factor = arena_array(arena, S0Multiplier, node->channels);
    for (size_t c = 0; c < node->channels; c++) {
        const Form16 *form = &node->form[c];
        bool is_shared = form16_joins(form, shared);
        weight[c] = is_shared ? form->fixed_weight : 0;
        offset[c] = is_shared ? form->fixed_offset : 0;
        factor[c] = is_shared ? form->factor : shared->factor;
    }
    return (S0Fixed16){node->channels, weight, offset, factor, shared->rounding, shared->codes};
}

static void share(Node16 *node, const Form16 *shared, Arena *arena) {
    node->shared = shared->kind;
    if (shared->kind == FORM16_REAL) {
        node->reals = share_reals(node, shared, arena);
    } else if (shared->kind == FORM16_QUOTIENT) {
        node->quotients = share_quotients(node, shared, arena);
    } else {
        node->fixed = share_fixed(node, shared, arena);
    }
}

static void list_patches(Node16 *node, const Form16 *shared, Arena *arena) {
    size_t *column = arena_array(arena, size_t, node->channels);
    for (size_t c = 0; c < node->channels; c++) {
        if (shared == NULL || !form16_joins(&node->form[c], shared)) {
            column[node->patch_count++] = c;
        }
    }
    node->patch_column = column;
}

void node16_find(const Chain *chain, size_t channels, Arena *arena, Node16 *node) {
    CHECK(channels > 0);
    Form16 *form = arena_array(arena, Form16, channels);
    *node = (Node16){.channels = channels, .chain = chain, .form = form, .shared = FORM16_CHAIN};
    for (size_t c = 0; c < channels; c++) {
        form16_find(&chain[c], &form[c]);
        node->count[form[c].kind]++;
    }
    const Form16 *shared = most_shared(node);
    if (shared != NULL) {
        share(node, shared, arena);
    }
    list_patches(node, shared, arena);
}

void node16_join(Node16 *node, Arena *arena) {
    size_t *together = arena_array(arena, size_t, node->channels);
    for (size_t c = node->channels; c-- > 0;) {
        bool is_last = c + 1 == node->channels || !form16_joins(&node->form[c + 1], &node->form[c]);
        together[c] = node->form[c].kind != FORM16_REAL ? 0 : is_last ? 1 : 1 + together[c + 1];
    }
    node->together = together;
    node->planes = share_reals(node, NULL, arena);
}
