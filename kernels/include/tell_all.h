/*
 * tell_all.h: how the blocks of a grid that is on the GPU as a whole tell each other one number
 * each. A state is the number and a flag above it in one 64-bit word, and so needs no fence; all
 * are zero before. Whoever asks reads the numbers of all blocks before it at once, four a thread in
 * flight: one trip to the L2 if they are there, no chain from block to block, and one order of
 * adding them up in every run.
 */
#ifndef LOCKSTEP_KERNELS_TELL_ALL_H
#define LOCKSTEP_KERNELS_TELL_ALL_H

#include "device.h"

#define TOLD (1ull << 32)

DEVICE void tell_all(u64 *states, u32 block, u32 bits)
{
    store_relaxed_u64(states + block, TOLD | bits);
}

/* The numbers of the blocks first, first + step .. before end, four of them; 0 from end on. */
DEVICE void ask_four(const u64 *states, u32 first, u32 step, u32 end, u32 *bits)
{
    u64 state[4], missing;
    do {
        missing = 0;
#pragma unroll
        for (u32 k = 0; k < 4; k++)
            state[k] = first + k * step < end ? load_relaxed_u64(states + first + k * step) : TOLD;
#pragma unroll
        for (u32 k = 0; k < 4; k++) {
            missing |= ~state[k] & TOLD;
            bits[k] = (u32)state[k];
        }
    } while (missing);
}

#endif
