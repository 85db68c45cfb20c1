/* Finds forms: candidates from cheap to dear, each compared with the chain under every reference. See form.h. */
#include "affine/form.h"

#include "affine/candidate.h"
#include "affine/pair.h"

#include <math.h>

const char *affine_form_name(AffineForm form) {
    static const char *const names[] = {
        [AFFINE_REMOVE] = "remove", [AFFINE_ADD_INT] = "add_int", [AFFINE_BIAS] = "bias", [AFFINE_REQUANT] = "requant",
        [AFFINE_SHIFT] = "shift",   [AFFINE_MULADD] = "muladd",   [AFFINE_LUT] = "lut",   [AFFINE_REFUSE] = "refuse",
    };
    return names[form];
}

#define FORM_BIT(form) (UINT32_C(1) << (form))

/* The cheapest of a set that holds REFUSE. A shift is cheaper than the requant that it is. */
static AffineForm cheapest(uint32_t set) {
    static const AffineForm order[] = {AFFINE_REMOVE,  AFFINE_ADD_INT, AFFINE_BIAS, AFFINE_SHIFT,
                                       AFFINE_REQUANT, AFFINE_MULADD,  AFFINE_LUT};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if ((set & FORM_BIT(order[i])) != 0) {
            return order[i];
        }
    }
    return AFFINE_REFUSE;
}

/* ---- A channel under study */

typedef struct {
    const Stage *stage;
    uint32_t stage_count;
    Domain domain;
    uint32_t chain_count;
    Chain chain[S0_SEM_COUNT]; /* under each reference that is to be met */
    CodeRange range;           /* of what comes out, under the first of them */
    RealForm real;
    PairRoom room;
} Study;

static bool is_coded(const Stage *stage, uint32_t count) {
    int32_t lo, hi;
    return stage_code_range(stage[0].from, &lo, &hi) && stage_code_range(stage[count - 1].to, &lo, &hi);
}

static StageFault study_bind(Study *study, uint32_t semantics) {
    for (int s = 0; s < S0_SEM_COUNT; s++) {
        if ((semantics & S0_SEM_BIT(s)) == 0) {
            continue;
        }
        Chain *chain = &study->chain[study->chain_count++];
        StageFault fault = chain_bind(study->stage, study->stage_count, (Semantics)s, study->room.arena, chain);
        fault = fault == NULL ? chain_check(chain, study->domain.lo, study->domain.hi) : fault;
        if (fault != NULL) {
            return fault;
        }
    }
    return study->chain_count == 0 ? "no reference is asked for" : NULL;
}

static int32_t code_at(const Study *study, int64_t input) {
    return chain_code(&study->chain[0], (int32_t)input);
}

static StageFault study_init(Study *study, uint32_t semantics) {
    if (study->domain.lo > study->domain.hi) {
        return "no input can reach the chain";
    }
    if (!is_coded(study->stage, study->stage_count)) {
        return "the chain does not start and end with codes of at most 32 bits";
    }
    StageFault fault = study_bind(study, semantics);
    fault = fault == NULL ? real_fold(study->stage, study->stage_count, &study->real) : fault;
    if (fault == NULL) {
        int32_t first = code_at(study, study->domain.lo), last = code_at(study, study->domain.hi);
        study->range = (CodeRange){first < last ? first : last, first < last ? last : first};
    }
    return fault;
}

/* ---- Candidates */

/* A few inputs tell most candidates apart from the chain. */
static bool differs_early(const Chain *before, const Chain *after, const Domain *domain) {
    int64_t width = domain->hi - domain->lo;
    for (int64_t i = 0; i <= 8; i++) {
        int32_t input = (int32_t)(domain->lo + width / 8 * i);
        if (chain_code(before, input) != chain_code(after, input)) {
            return true;
        }
    }
    return false;
}

static bool equals(Study *study, uint32_t k, const Chain *after) {
    Pair pair = {&study->chain[k], after, study->domain, 0};
    if (differs_early(pair.before, pair.after, &pair.domain)) {
        return false;
    }
    Comparison result = pair_compare(&pair, &study->room);
    return result.class != PROOF_REFUSED && result.mismatches == 0;
}

static bool is_expressed(Study *study, const Candidate *candidate) {
    for (uint32_t k = 0; k < study->chain_count; k++) {
        Semantics kernel = candidate->kernel == S0_SEM_COUNT ? study->chain[k].semantics : candidate->kernel;
        Chain after;
        if (chain_bind(&candidate->stage, 1, kernel, study->room.arena, &after) != NULL || !equals(study, k, &after)) {
            return false;
        }
    }
    return true;
}

static bool is_identity(Study *study) {
    bool same = study->stage[0].from == study->stage[study->stage_count - 1].to;
    const Chain nothing = {.count = 0};
    for (uint32_t k = 0; same && k < study->chain_count; k++) {
        same = equals(study, k, &nothing);
    }
    return same;
}

/* The least input whose code is not that of the domain's first. Not for constant chains. */
static int64_t first_step(const Study *study) {
    int64_t lo = study->domain.lo, hi = study->domain.hi;
    int32_t first = code_at(study, lo);
    while (hi - lo > 1) {
        int64_t middle = lo + (hi - lo) / 2;
        if (code_at(study, middle) == first) {
            lo = middle;
        } else {
            hi = middle;
        }
    }
    return hi;
}

/* At its first step a translation is not limited. */
static bool is_translation(Study *study, int32_t *shift) {
    if (study->range.lo == study->range.hi) {
        return false;
    }
    int64_t step = first_step(study);
    int64_t moved = code_at(study, step) - step;
    Candidate candidate = candidate_translation(s0_saturate(moved), study->range);
    *shift = s0_saturate(moved);
    return is_expressed(study, &candidate);
}

/* One stage of codes to codes, or Dequantize and Quantize, which are a requantise. */
static bool is_one_stage(const Study *study) {
    const Stage *stage = study->stage;
    bool is_pair = study->stage_count == 2 && stage[0].kind == STAGE_DEQUANTIZE && stage[1].kind == STAGE_QUANTIZE;
    bool is_code = stage[0].kind >= STAGE_CODE_MUL && stage[0].kind != STAGE_CODE_CLIP;
    return is_pair || (study->stage_count == 1 && is_code);
}

/* The rest of the chain only moves what its first stage gives. */
static bool is_moved_head(Study *study) {
    Chain head;
    Candidate candidate;
    if (study->stage_count < 2 || study->range.lo == study->range.hi ||
        chain_bind(study->stage, 1, study->chain[0].semantics, study->room.arena, &head) != NULL) {
        return false;
    }
    int64_t step = first_step(study);
    int64_t moved = (int64_t)code_at(study, step) - chain_code(&head, (int32_t)step);
    return candidate_head(study->stage, study->stage_count, moved, study->range, &candidate) &&
           is_expressed(study, &candidate);
}

static double reach_of(const Study *study) {
    double zero = study->real.in.zero_point;
    return fmax(fabs((double)study->domain.lo - zero), fabs((double)study->domain.hi - zero));
}

static bool is_multiply_add(Study *study) {
    Candidate candidates[CANDIDATE_MOST];
    uint32_t count = 0;
    if (is_one_stage(study) || is_moved_head(study)) {
        return true;
    }
    bool is_float = s0_semantics_format(study->chain[0].semantics) == S0_FORMAT_ONNX;
    double own_limit = is_float ? 16777216 : 2147483648; /* sums that float32 holds; int32 */
    if (candidate_fused(study->stage, &study->real, study->range, &candidates[0]) &&
        is_expressed(study, &candidates[0])) {
        return true;
    }
    count = candidate_scales(&study->real, reach_of(study), own_limit, study->range, candidates);
    for (uint32_t i = 0; i < count; i++) {
        if (is_expressed(study, &candidates[i])) {
            return true;
        }
    }
    return false;
}

/* ---- The form */

static bool is_small(const Study *study) {
    return study->domain.hi - study->domain.lo < PAIR_MOST_INPUTS;
}

/* A translation as what else? With equal scales it adds a constant; where the zero points differ by as much, it is a
 * requantise by one. */
static uint32_t translation_fits(const Study *study, int32_t shift) {
    const StageCode *in = &study->real.in, *out = &study->real.out;
    uint32_t fits = FORM_BIT(AFFINE_ADD_INT) | FORM_BIT(AFFINE_MULADD);
    fits |= in->scale <= out->scale && in->scale >= out->scale ? FORM_BIT(AFFINE_BIAS) : 0;
    bool is_requant = (int64_t)out->zero_point - in->zero_point == shift;
    return is_requant ? fits | FORM_BIT(AFFINE_SHIFT) | FORM_BIT(AFFINE_REQUANT) : fits;
}

static uint32_t affine_fits(const RealForm *real, int32_t *shift) {
    int exponent;
    bool has_factor = real->a < 1 || real->a > 1, has_addend = real->b < 0 || real->b > 0;
    uint32_t fits = FORM_BIT(AFFINE_MULADD);
    if (has_addend) {
        return has_factor ? fits : fits | FORM_BIT(AFFINE_BIAS);
    }
    bool is_power = frexp(real_code_factor(real), &exponent) == 0.5;
    *shift = is_power ? exponent - 1 : 0;
    return fits | FORM_BIT(AFFINE_REQUANT) | (is_power ? FORM_BIT(AFFINE_SHIFT) : 0);
}

static const char *why_no_cheaper(AffineForm form) {
    static const char *const why[] = {
        [AFFINE_ADD_INT] = "codes are moved",
        [AFFINE_BIAS] = "codes are not moved by the same everywhere",
        [AFFINE_REQUANT] = "the factor on codes is no power of 2",
        [AFFINE_SHIFT] = "codes are multiplied",
        [AFFINE_MULADD] = "the factor is not 1 and the addend not 0",
        [AFFINE_LUT] = "no integer multiplication and addition gives the same codes",
        [AFFINE_REFUSE] =
            "no integer multiplication and addition gives the same codes, and there are too many for a table",
    };
    return form == AFFINE_REMOVE ? NULL : why[form];
}

/* The fault of a chain that no form expresses. */
static ChannelForm refused(StageFault fault) {
    return (ChannelForm){.form = AFFINE_REFUSE, .a = 1, .fits = FORM_BIT(AFFINE_REFUSE), .why = fault};
}

ChannelForm affine_channel_form(const Stage *stage, uint32_t count, Domain domain, uint32_t semantics, Work *work) {
    const uint32_t last = FORM_BIT(AFFINE_REFUSE);
    ChannelForm form = {.a = 1, .fits = ~UINT32_C(0)};
    if (count == 0) {
        return form;
    }
    Study study = {.stage = stage, .stage_count = count, .domain = domain, .room = {.arena = &work->scratch}};
    StageFault fault = study_init(&study, semantics);
    if (fault != NULL) {
        return refused(fault);
    }
    form.a = study.real.a;
    form.b = study.real.b;
    form.fits = last | (is_small(&study) ? FORM_BIT(AFFINE_LUT) : 0);
    if (is_identity(&study)) {
        form.fits |= FORM_BIT(AFFINE_REMOVE) | translation_fits(&study, 0);
    } else if (is_translation(&study, &form.shift)) {
        form.fits |= translation_fits(&study, form.shift);
    } else {
        form.shift = 0;
        form.fits |= is_multiply_add(&study) ? affine_fits(&study.real, &form.shift) : 0;
    }
    form.form = cheapest(form.fits);
    form.why = why_no_cheaper(form.form);
    return form;
}

/* ---- The form of a node */

NodeForm affine_node_form(const ChannelForm *channel, uint32_t count, Arena *keep) {
    uint32_t fits = ~UINT32_C(0), some = 0;
    for (uint32_t c = 0; c < count; c++) {
        fits &= channel[c].fits;
        some |= FORM_BIT(channel[c].form);
    }
    NodeForm node = {.form = cheapest(fits), .best = cheapest(count == 0 ? fits : some)};
    uint32_t *blocked = arena_array(keep, uint32_t, count);
    for (uint32_t c = 0; c < count; c++) {
        if (channel[c].form != node.best) {
            blocked[node.blocked_count++] = c;
        }
    }
    node.blocked = blocked;
    return node;
}
