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
    JUDGE_WRONG_BOUND,  /* the bound is not the largest sum of live sizes */
} JudgeVerdict;

typedef struct {
    JudgeVerdict verdict;
    size_t a, b; /* indices of the buffers it is about */
} Judgement;

/* cost  O(n log n) by a sweep over steps. */
Judgement place_judge(const PlaceProblem *problem, Arena *scratch);

/* For a message: "two buffers share a byte". */
const char *judge_text(JudgeVerdict verdict);

#endif
