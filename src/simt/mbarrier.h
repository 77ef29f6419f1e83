/*
 * mbarrier.h: the mbarrier, 8 bytes of shared memory in a layout of our own: expected and pending
 * arrivals, bytes still to come, and the phase. Bodies change it through these functions, wherever
 * in the cluster it lies.
 */
#ifndef LOCKSTEP_SIMT_MBARRIER_H
#define LOCKSTEP_SIMT_MBARRIER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct simt_mbarrier {
    uint64_t pending : 20;  /* arrivals missing in this phase */
    uint64_t expected : 20; /* arrivals of a whole phase */
    uint64_t phase : 1;
    uint64_t ready : 1;  /* initialised */
    uint64_t bytes : 22; /* to come, as a signed number (may be counted before it is expected) */
};
_Static_assert(sizeof(struct simt_mbarrier) == 8, "an mbarrier has 64 bits");
enum {
    SIMT_MBARRIER_COUNT_MASK = (1 << 20) - 1,
    SIMT_MBARRIER_BYTES_MASK = (1 << 22) - 1,
    SIMT_MBARRIER_BYTES_MOST = (1 << 20) - 1, /* either way */
    SIMT_MBARRIER_VAIN = 512                  /* instructions that a vain wait pays for */
};

/* Bytes that the phase waits for; below 0: more have come than are expected so far. */
static inline int32_t simt_mbarrier_bytes(const struct simt_mbarrier *barrier)
{
    uint32_t bytes = barrier->bytes & SIMT_MBARRIER_BYTES_MASK;
    return (int32_t)(bytes << 10) >> 10;
}

/* false, and nothing changes: the count leaves its range. */
static inline bool simt_mbarrier_expect(struct simt_mbarrier *barrier, int64_t bytes)
{
    int64_t sum = simt_mbarrier_bytes(barrier) + bytes;
    if (sum > SIMT_MBARRIER_BYTES_MOST || sum < -SIMT_MBARRIER_BYTES_MOST)
        return false;
    barrier->bytes = (uint64_t)sum & SIMT_MBARRIER_BYTES_MASK;
    return true;
}

static inline void simt_mbarrier_settle(struct simt_mbarrier *barrier)
{
    if (barrier->pending || barrier->bytes)
        return;
    barrier->phase ^= 1;
    barrier->pending = barrier->expected;
}

/* false, and nothing changes: more arrivals than the phase has left. */
static inline bool simt_mbarrier_arrive(struct simt_mbarrier *barrier, uint32_t count, bool drops)
{
    if (count > barrier->pending)
        return false;
    if (drops)
        barrier->expected = (barrier->expected - count) & SIMT_MBARRIER_COUNT_MASK;
    barrier->pending = (barrier->pending - count) & SIMT_MBARRIER_COUNT_MASK;
    simt_mbarrier_settle(barrier);
    return true;
}

static inline uint64_t simt_mbarrier_state(const struct simt_mbarrier *barrier)
{
    uint64_t bits;
    memcpy(&bits, barrier, 8);
    return bits;
}

#endif
