/* The judge: is a placement right? Shares no code with the packer and believes nothing it wrote. */
#ifndef S0_PLACE_JUDGE_H
#define S0_PLACE_JUDGE_H

#include "place/place.h"

typedef enum {
    JUDGE_RIGHT,
    JUDGE_OVERLAP,      /* buffers `a` and `b` share a step and a byte */
    JUDGE_MISALIGNED,   /* the offset of buffer `a` is not a multiple of its alignment and the unit */
    JUDGE_TOO_HIGH,     /* buffer `a` ends above the height that was told */
    JUDGE_WRONG_HEIGHT, /* no buffer reaches the height that was told */
    JUDGE_WRONG_BOUND, /* the bound is not the largest sum of live sizes, or, of an answer, not between it and height */
    JUDGE_MOVED,       /* buffer `a` is not at the offset where it has to be */
    JUDGE_WRONG_MEMORY,  /* buffer `a` is not in the memory where it has to be */
    JUDGE_TORN,          /* buffers `a` and `b` must share a storage, and lie in different places */
    JUDGE_TOGETHER,      /* buffers `a` and `b` must lie apart, and share a byte */
    JUDGE_OVER_CAPACITY, /* what is said to fit memory `a` is higher than it */
} JudgeVerdict;

typedef struct {
    JudgeVerdict verdict;
    size_t a, b; /* indices of the buffers it is about */
} Judgement;

/* cost  O(n log n) by a sweep over steps. */
Judgement place_judge(const PlaceProblem *problem, Arena *scratch);

enum { JUDGE_ANY_MEMORY = INT32_MAX };

/* One buffer of a question with several memories, and its answer. */
typedef struct {
    uint64_t size, align, first, last; /* as SolverBuffer has them */
    const PlaceSpan *gap;
    size_t gap_count;
    uint32_t share;    /* buffers with the same number are one storage: as large as the largest; 0: none */
    uint32_t apart;    /* as SolverBuffer has it, within one memory */
    bool is_pinned;    /* `pin` is its offset */
    uint64_t pin;      /* bytes */
    uint32_t required; /* the memory it must be in, or JUDGE_ANY_MEMORY */
    uint32_t memory;   /* the answer: where it was put, … */
    uint64_t offset;   /* … and at which byte */
} JudgedBuffer;

typedef struct {
    uint64_t align_bytes;   /* at least 1 */
    uint64_t capacity;      /* UINT64_MAX where there is none */
    uint64_t height, bound; /* as the answer tells them */
    bool is_said_to_fit;
} JudgedMemory;

typedef struct {
    const JudgedBuffer *buffer;
    size_t count;
    const JudgedMemory *memory;
    uint32_t memory_count;
} JudgedAnswer;

/* All that the question asks for, in all memories. Sums of live sizes fit 64 bits where heights do. cost  O(n log n),
 * n the number of spans. */
Judgement place_judge_answer(const JudgedAnswer *answer, Arena *scratch);

/* For a message: "two buffers share a byte". */
const char *judge_text(JudgeVerdict verdict);

#endif
