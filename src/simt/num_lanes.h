/*
 * num_lanes.h: what the floating-point bodies share beside exec.h: results that are computed to one
 * side and then stored in the active lanes, and tests that give a bit per lane.
 */
#ifndef LOCKSTEP_SIMT_NUM_LANES_H
#define LOCKSTEP_SIMT_NUM_LANES_H

#include "simt/exec.h"

/* Copies results[lane] to the slot at d in the active lanes; returns the next instruction. */
#define NUM_STORE(name, T)                                                                         \
    static inline const struct simt_inst *name(struct simt_warp *w, const struct simt_inst *in,    \
                                               const void *results)                                \
    {                                                                                              \
        const T *from = results;                                                                   \
        T *d = SIMT_SLOT(T, in->d);                                                                \
        uint32_t mask = w->mask;                                                                   \
        if (mask == SIMT_ALL) {                                                                    \
            SIMT_EACH_LANE d[i] = from[i];                                                         \
        } else {                                                                                   \
            SIMT_EACH_LANE d[i] = mask >> i & 1 ? from[i] : d[i];                                  \
        }                                                                                          \
        return in + 1;                                                                             \
    }
NUM_STORE(num_store_16, uint16_t)
NUM_STORE(num_store_32, uint32_t)
NUM_STORE(num_store_64, uint64_t)

/* The expression of x and y in all 32 lanes as bits. */
#define NUM_TEST(name, T, expression)                                                              \
    static inline uint32_t name(const void *first, const void *second)                             \
    {                                                                                              \
        const T *xs = first, *ys = second;                                                         \
        uint32_t lanes[SIMT_LANES];                                                                \
        SIMT_EACH_LANE                                                                             \
        {                                                                                          \
            T x = xs[i], y = ys[i];                                                                \
            (void)x, (void)y;                                                                      \
            lanes[i] = (expression) ? UINT32_MAX : 0;                                              \
        }                                                                                          \
        return simt_movemask(lanes);                                                               \
    }

#endif
