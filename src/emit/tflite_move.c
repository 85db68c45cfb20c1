/* TFLite: opens room in a FlatBuffer and cuts dead bytes out of it; every reference is corrected. */
#include "emit/tflite.h"

#include "base/fault.h"

#include <string.h>

/* Where byte `at` comes to stand: moved by what is inserted or cut in front of it. */
static size_t moved(const FlatMove *moves, const int64_t *sum, size_t count, size_t at) {
    size_t low = 0, high = count; /* moves [0, low) are at or in front of `at`, [high, count) behind it */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (moves[middle].at <= at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return (size_t)((int64_t)at + (low == 0 ? 0 : sum[low - 1]));
}

/* The bytes between the moves, each to its new place. */
static void copy_pieces(FlatImage *image, Span bytes, const FlatMove *moves, size_t count) {
    size_t from = 0, to = 0;
    for (size_t k = 0; k <= count; k++) {
        size_t piece = (k < count ? moves[k].at : bytes.len) - from;
        memcpy(image->bytes + to, bytes.ptr + from, piece);
        from += piece;
        to += piece;
        if (k < count && moves[k].bytes > 0) {
            to += (size_t)moves[k].bytes;
        } else if (k < count) {
            from += (size_t)-moves[k].bytes;
        }
    }
    CHECK(to == image->len);
}

FlatImage emit_move(Work *work, Span bytes, const FlatWalk *walk, const FlatMove *moves, size_t count) {
    int64_t *sum = arena_array(&work->scratch, int64_t, count);
    int64_t total = 0;
    for (size_t k = 0; k < count; k++) {
        total += moves[k].bytes;
        sum[k] = total;
    }
    FlatImage image = emit_image(work, (size_t)((int64_t)bytes.len + total));
    copy_pieces(&image, bytes, moves, count);
    for (size_t k = 0; k < walk->ref_count; k++) {
        size_t at = moved(moves, sum, count, walk->refs[k].at);
        size_t target = moved(moves, sum, count, walk->refs[k].target);
        emit_set(&image, at, walk->refs[k].is_back ? at - target : target - at, FLAT_REF_BYTES);
    }
    return image;
}

/* ---- Dead bytes */

typedef struct {
    const FlatImage *image;
    const uint16_t *before, *after;
    size_t len; /* what lies behind was appended, and lives */
} Sweep;

static bool is_dead(const Sweep *s, size_t at) {
    return s->before[at] != 0 && s->after[at] == 0;
}

static bool is_padding(const Sweep *s, size_t at) {
    return s->before[at] == 0 && s->after[at] == 0 && s->image->bytes[at] == 0;
}

/* The end of the dead bytes that begin at `at`; padding between two dead objects died with them. */
static size_t end_of_dead(const Sweep *s, size_t at) {
    size_t end = at;
    for (size_t k = at; k < s->len && k - end < EMIT_ALIGN_BYTES; k++) {
        if (is_dead(s, k)) {
            end = k + 1;
        } else if (!is_padding(s, k)) {
            break;
        }
    }
    return end;
}

FlatImage emit_sweep(const FlatImage *image, const FlatWalk *before, const FlatWalk *after) {
    Sweep s = {.image = image, .before = before->owner, .after = after->owner, .len = before->len};
    FlatMove *cuts = NULL;
    size_t count = 0, capacity = 0;
    for (size_t at = 0; at < s.len; at++) {
        if (!is_dead(&s, at)) {
            continue;
        }
        size_t bytes = end_of_dead(&s, at) - at;
        size_t whole = bytes - bytes % EMIT_ALIGN_BYTES;
        memset(image->bytes + at, 0, bytes);
        if (whole > 0) {
            cuts = arena_grow(&image->work->scratch, cuts, count, &capacity, sizeof *cuts);
            cuts[count++] = (FlatMove){at, -(int64_t)whole};
        }
        at += bytes - 1;
    }
    return emit_move(image->work, (Span){image->bytes, image->len}, after, cuts, count);
}
