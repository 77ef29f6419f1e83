/*
 * exec_warp.c: what the lanes of a warp do together: votes, shuffles, matches, reductions.
 * Lanes may name different masks in one instruction (groups of a warp): all lanes named must be
 * here before any goes on.
 */
#include "simt/core.h"

#include <math.h>

/* All lanes that the active lanes name in slot. False: not all of them are here yet. */
static bool gather(struct simt_warp *w, const struct simt_inst *in, uint32_t slot)
{
    const uint32_t *masks = SIMT_SLOT(const uint32_t, slot);
    uint32_t members = 0;
    for (int i = 0; i < SIMT_LANES; i++)
        members |= SIMT_ACTIVE(i) ? masks[i] : 0;
    return simt_wait_lanes(w, in, members);
}

/* A lane that its own mask does not name: PTX leaves open what it gets, and `check` reports it.
 * Compilers drop the masks of lanes that come together, so a GPU takes all that are here; these
 * bits are added to every mask. */
static inline uint32_t unnamed(const struct simt_warp *w, const uint32_t *masks)
{
    uint32_t named = 0;
    for (int i = 0; i < SIMT_LANES; i++)
        named |= masks[i] & 1u << i;
    return w->mask & ~named ? SIMT_ALL : 0;
}

SIMT_BODY(run_warp_sync)
{
    return gather(w, in, in->a) ? in + 1 : NULL;
}

/* Votes
 * ------------------------------------------------------------------------------------------------
 */

SIMT_BODY(run_ballot)
{
    if (!gather(w, in, in->b))
        return NULL;
    uint32_t bits = simt_predicate(w, in->a) & w->mask, *d = SIMT_SLOT(uint32_t, in->d);
    const uint32_t *masks = SIMT_SLOT(const uint32_t, in->b);
    uint32_t more = unnamed(w, masks);
    for (int i = 0; i < SIMT_LANES; i++)
        d[i] = SIMT_ACTIVE(i) ? bits & (masks[i] | more) : d[i];
    return in + 1;
}

enum vote { VOTE_ALL, VOTE_ANY, VOTE_UNI };

static inline bool vote(enum vote kind, uint32_t yes, uint32_t all)
{
    return kind == VOTE_ALL ? yes == all : kind == VOTE_ANY ? yes != 0 : yes == 0 || yes == all;
}

static inline const struct simt_inst *run_vote(struct simt_warp *w, const struct simt_inst *in,
                                               enum vote kind)
{
    if (!gather(w, in, in->b))
        return NULL;
    const uint32_t *masks = SIMT_SLOT(const uint32_t, in->b);
    uint32_t bits = simt_predicate(w, in->a), result = 0, more = unnamed(w, masks);
    for (int i = 0; i < SIMT_LANES; i++) {
        uint32_t members = (masks[i] | more) & w->mask;
        result |= (uint32_t)(SIMT_ACTIVE(i) && vote(kind, bits & members, members)) << i;
    }
    simt_set_predicate(w, in->d, result);
    return in + 1;
}

SIMT_BODY(run_vote_all)
{
    return run_vote(w, in, VOTE_ALL);
}
SIMT_BODY(run_vote_any)
{
    return run_vote(w, in, VOTE_ANY);
}
SIMT_BODY(run_vote_uni)
{
    return run_vote(w, in, VOTE_UNI);
}

/* Forms from before sm_70 ask the lanes that happen to be here. */
SIMT_BODY(run_ballot_old)
{
    uint32_t bits = simt_predicate(w, in->a) & w->mask, *d = SIMT_SLOT(uint32_t, in->d);
    for (int i = 0; i < SIMT_LANES; i++)
        d[i] = SIMT_ACTIVE(i) ? bits : d[i];
    return in + 1;
}

SIMT_BODY(run_vote_old)
{
    enum vote kind = ptx_has(in->ptx, PTX_MOD_ALL)   ? VOTE_ALL
                     : ptx_has(in->ptx, PTX_MOD_ANY) ? VOTE_ANY
                                                     : VOTE_UNI;
    uint32_t yes = simt_predicate(w, in->a) & w->mask;
    simt_set_predicate(w, in->d, vote(kind, yes, w->mask) ? SIMT_ALL : 0);
    return in + 1;
}

SIMT_BODY(run_activemask)
{
    uint32_t *d = SIMT_SLOT(uint32_t, in->d);
    for (int i = 0; i < SIMT_LANES; i++)
        d[i] = SIMT_ACTIVE(i) ? w->mask : d[i];
    return in + 1;
}

SIMT_BODY(run_elect)
{
    if (!gather(w, in, in->a))
        return NULL;
    const uint32_t *masks = SIMT_SLOT(const uint32_t, in->a);
    uint32_t *d = SIMT_SLOT(uint32_t, in->d), leaders = 0;
    for (int i = 0; i < SIMT_LANES; i++) {
        uint32_t members = masks[i] & w->mask;
        if (!SIMT_ACTIVE(i) || !members)
            continue;
        uint32_t leader = (uint32_t)__builtin_ctz(members);
        d[i] = leader;
        leaders |= 1u << leader;
    }
    simt_set_predicate(w, in->d2, leaders);
    return in + 1;
}

/* Shuffles
 * -----------------------------------------------------------------------------------------------
 */

enum shuffle { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BFLY, SHUFFLE_IDX };

/* Which lane to read, and whether it is in range; c packs the segment mask and the clamp. */
static inline int source_lane(enum shuffle kind, int lane, uint32_t b, uint32_t c, bool *in_range)
{
    int segment = c >> 8 & 31, clamp = c & 31, offset = b & 31;
    int highest = (lane & segment) | (clamp & ~segment), lowest = lane & segment, j;
    switch (kind) {
    case SHUFFLE_UP:
        j = lane - offset;
        *in_range = j >= highest;
        break;
    case SHUFFLE_DOWN:
        j = lane + offset;
        *in_range = j <= highest;
        break;
    case SHUFFLE_BFLY:
        j = lane ^ offset;
        *in_range = j <= highest;
        break;
    default:
        j = lowest | (offset & ~segment);
        *in_range = j <= highest;
    }
    return *in_range ? j & 31 : lane;
}

static inline const struct simt_inst *shuffle(struct simt_warp *w, const struct simt_inst *in,
                                              enum shuffle kind)
{
    uint32_t values[SIMT_LANES], *d = SIMT_SLOT(uint32_t, in->d), in_range = 0;
    const uint32_t *b = SIMT_SLOT(const uint32_t, in->b), *c = SIMT_SLOT(const uint32_t, in->c);
    memcpy(values, SIMT_SLOT(const uint32_t, in->a), sizeof(values));
    for (int i = 0; i < SIMT_LANES; i++) {
        if (!SIMT_ACTIVE(i))
            continue;
        bool inside;
        int from = source_lane(kind, i, b[i], c[i], &inside);
        in_range |= (uint32_t)inside << i;
        d[i] = values[from];
    }
    simt_set_predicate(w, in->d2, in_range);
    return in + 1;
}

#define SHUFFLE_BODIES(name, kind)                                                                 \
    SIMT_BODY(name)                                                                                \
    {                                                                                              \
        return gather(w, in, in->e) ? shuffle(w, in, kind) : NULL;                                 \
    }                                                                                              \
    SIMT_BODY(name##_old)                                                                          \
    {                                                                                              \
        return shuffle(w, in, kind);                                                               \
    }
SHUFFLE_BODIES(run_shuffle_up, SHUFFLE_UP)
SHUFFLE_BODIES(run_shuffle_down, SHUFFLE_DOWN)
SHUFFLE_BODIES(run_shuffle_bfly, SHUFFLE_BFLY)
SHUFFLE_BODIES(run_shuffle_idx, SHUFFLE_IDX)

/* Matches
 * --------------------------------------------------------------------------------------------------
 */

#define MATCH_BODIES(suffix, T)                                                                    \
    SIMT_BODY(run_match_any_##suffix)                                                              \
    {                                                                                              \
        if (!gather(w, in, in->b))                                                                 \
            return NULL;                                                                           \
        const T *a = SIMT_SLOT(const T, in->a);                                                    \
        const uint32_t *masks = SIMT_SLOT(const uint32_t, in->b);                                  \
        uint32_t result[SIMT_LANES], *d = SIMT_SLOT(uint32_t, in->d), more = unnamed(w, masks);    \
        for (int i = 0; i < SIMT_LANES; i++) {                                                     \
            result[i] = 0;                                                                         \
            for (int k = 0; k < SIMT_LANES; k++)                                                   \
                result[i] |= (uint32_t)(a[i] == a[k]) << k;                                        \
            result[i] &= (masks[i] | more) & w->mask;                                              \
        }                                                                                          \
        for (int i = 0; i < SIMT_LANES; i++)                                                       \
            d[i] = SIMT_ACTIVE(i) ? result[i] : d[i];                                              \
        return in + 1;                                                                             \
    }                                                                                              \
    SIMT_BODY(run_match_all_##suffix)                                                              \
    {                                                                                              \
        if (!gather(w, in, in->b))                                                                 \
            return NULL;                                                                           \
        const T *a = SIMT_SLOT(const T, in->a);                                                    \
        const uint32_t *masks = SIMT_SLOT(const uint32_t, in->b);                                  \
        uint32_t result[SIMT_LANES], *d = SIMT_SLOT(uint32_t, in->d), all = 0;                     \
        uint32_t more = unnamed(w, masks);                                                         \
        for (int i = 0; i < SIMT_LANES; i++) {                                                     \
            uint32_t members = (masks[i] | more) & w->mask, same = 0;                              \
            for (int k = 0; k < SIMT_LANES; k++)                                                   \
                same |= (uint32_t)(a[i] == a[k]) << k;                                             \
            bool equal = (same & members) == members;                                              \
            result[i] = equal ? members : 0;                                                       \
            all |= (uint32_t)equal << i;                                                           \
        }                                                                                          \
        for (int i = 0; i < SIMT_LANES; i++)                                                       \
            d[i] = SIMT_ACTIVE(i) ? result[i] : d[i];                                              \
        simt_set_predicate(w, in->d2, all);                                                        \
        return in + 1;                                                                             \
    }
MATCH_BODIES(b32, uint32_t)
MATCH_BODIES(b64, uint64_t)

/* Reductions
 * ------------------------------------------------------------------------------------------------
 */

/* Whom lane i reduces with. Lanes that do not take part follow the last one: most lanes name the
 * same others, and those are reduced once. */
static inline uint32_t members_of(const struct simt_warp *w, const uint32_t *masks, uint32_t more,
                                  int i, uint32_t last)
{
    return SIMT_ACTIVE(i) ? (masks[i] | more) & w->mask : last;
}

#define REDUX_BODY(name, T, start, combine)                                                        \
    SIMT_BODY(name)                                                                                \
    {                                                                                              \
        if (!gather(w, in, in->b))                                                                 \
            return NULL;                                                                           \
        const T *a = SIMT_SLOT(const T, in->a);                                                    \
        const uint32_t *masks = SIMT_SLOT(const uint32_t, in->b);                                  \
        T result[SIMT_LANES], *d = SIMT_SLOT(T, in->d), x = start;                                 \
        uint32_t more = unnamed(w, masks), last = 0;                                               \
        for (int i = 0; i < SIMT_LANES; i++) {                                                     \
            uint32_t members = members_of(w, masks, more, i, last);                                \
            x = members == last ? x : (start);                                                     \
            for (uint32_t rest = members == last ? 0 : members; rest; rest &= rest - 1) {          \
                T y = a[__builtin_ctz(rest)];                                                      \
                x = combine;                                                                       \
            }                                                                                      \
            last = members;                                                                        \
            result[i] = x;                                                                         \
        }                                                                                          \
        for (int i = 0; i < SIMT_LANES; i++)                                                       \
            d[i] = SIMT_ACTIVE(i) ? result[i] : d[i];                                              \
        return in + 1;                                                                             \
    }
REDUX_BODY(run_redux_add, uint32_t, 0, x + y)
REDUX_BODY(run_redux_min_u32, uint32_t, UINT32_MAX, x < y ? x : y)
REDUX_BODY(run_redux_max_u32, uint32_t, 0, x > y ? x : y)
REDUX_BODY(run_redux_min_s32, int32_t, INT32_MAX, x < y ? x : y)
REDUX_BODY(run_redux_max_s32, int32_t, INT32_MIN, x > y ? x : y)
REDUX_BODY(run_redux_and, uint32_t, SIMT_ALL, x &y)
REDUX_BODY(run_redux_or, uint32_t, 0, x | y)
REDUX_BODY(run_redux_xor, uint32_t, 0, x ^ y)

/* Order of floats as of sign and magnitude, so that -0 is below +0. */
static inline float pick_float(float x, float y, bool largest, bool keep_nan)
{
    if (isnan(x) || isnan(y)) {
        uint32_t canonical = 0x7fffffff;
        float nan;
        memcpy(&nan, &canonical, 4);
        return keep_nan || (isnan(x) && isnan(y)) ? nan : isnan(x) ? y : x;
    }
    bool x_larger = x > y || (x == y && !signbit(x));
    return x_larger == largest ? x : y;
}

SIMT_BODY(run_redux_f32)
{
    if (!gather(w, in, in->b))
        return NULL;
    bool largest = ptx_has(in->ptx, PTX_MOD_MAX), absolute = ptx_has(in->ptx, PTX_MOD_ABS);
    bool keep_nan = ptx_has(in->ptx, PTX_MOD_NAN);
    const float *a = SIMT_SLOT(const float, in->a);
    const uint32_t *masks = SIMT_SLOT(const uint32_t, in->b);
    float result[SIMT_LANES], *d = SIMT_SLOT(float, in->d);
    uint32_t more = unnamed(w, masks), last = 0;
    float x = 0;
    for (int i = 0; i < SIMT_LANES; i++) {
        uint32_t members = members_of(w, masks, more, i, last);
        uint32_t rest = members == last ? 0 : members;
        x = rest ? a[__builtin_ctz(rest)] : x;
        x = absolute ? fabsf(x) : x;
        for (; rest; rest &= rest - 1) {
            float y = a[__builtin_ctz(rest)];
            x = pick_float(x, absolute ? fabsf(y) : y, largest, keep_nan);
        }
        last = members;
        result[i] = x;
    }
    for (int i = 0; i < SIMT_LANES; i++)
        d[i] = SIMT_ACTIVE(i) ? result[i] : d[i];
    return in + 1;
}

/* Selection
 * --------------------------------------------------------------------------------------------------
 */

static simt_body *select_shuffle(const struct ptx_inst *ptx)
{
    bool old = ptx->op == PTX_OP_SHFL_OLD;
    if (ptx_has(ptx, PTX_MOD_UP))
        return old ? run_shuffle_up_old : run_shuffle_up;
    if (ptx_has(ptx, PTX_MOD_DOWN))
        return old ? run_shuffle_down_old : run_shuffle_down;
    if (ptx_has(ptx, PTX_MOD_BFLY))
        return old ? run_shuffle_bfly_old : run_shuffle_bfly;
    return old ? run_shuffle_idx_old : run_shuffle_idx;
}

static simt_body *select_redux(const struct ptx_inst *ptx)
{
    bool is_signed = ptx->types[0] == PTX_S32;
    if (ptx_has(ptx, PTX_MOD_ADD))
        return run_redux_add;
    if (ptx_has(ptx, PTX_MOD_MIN))
        return is_signed ? run_redux_min_s32 : run_redux_min_u32;
    if (ptx_has(ptx, PTX_MOD_MAX))
        return is_signed ? run_redux_max_s32 : run_redux_max_u32;
    if (ptx_has(ptx, PTX_MOD_AND))
        return run_redux_and;
    return ptx_has(ptx, PTX_MOD_OR) ? run_redux_or : run_redux_xor;
}

simt_body *SIMT_NAME(warp_select)(const struct simt_operands *operands)
{
    const struct ptx_inst *ptx = operands->ptx;
    switch (ptx->op) {
    case PTX_OP_BAR_WARP_SYNC:
        return run_warp_sync;
    case PTX_OP_VOTE_PRED:
        return ptx_has(ptx, PTX_MOD_ALL)   ? run_vote_all
               : ptx_has(ptx, PTX_MOD_ANY) ? run_vote_any
                                           : run_vote_uni;
    case PTX_OP_VOTE_BALLOT:
        return run_ballot;
    case PTX_OP_VOTE_PRED_OLD:
        return run_vote_old;
    case PTX_OP_VOTE_BALLOT_OLD:
        return run_ballot_old;
    case PTX_OP_MATCH_ANY:
        return ptx->types[0] == PTX_B64 ? run_match_any_b64 : run_match_any_b32;
    case PTX_OP_MATCH_ALL:
        return ptx->types[0] == PTX_B64 ? run_match_all_b64 : run_match_all_b32;
    case PTX_OP_REDUX:
    case PTX_OP_REDUX_BITS:
        return select_redux(ptx);
    case PTX_OP_REDUX_F32:
        return run_redux_f32;
    case PTX_OP_SHFL:
    case PTX_OP_SHFL_OLD:
        return select_shuffle(ptx);
    case PTX_OP_ACTIVEMASK:
        return run_activemask;
    case PTX_OP_ELECT:
        return run_elect;
    default:
        return NULL;
    }
}
