/*
 * waves.h: how the blocks of a persistent grid tell each other a number in every wave. All blocks
 * are resident (a cooperative launch); in wave w block b works on tile w * blocks + b, so that
 * what comes before its tile is the total of all waves before and the numbers of blocks 0 .. b-1
 * in this one. Each block adds all of them up itself: one round trip to the L2, no chain of look-
 * backs, and always the same order, so that float sums have the same bits in every run.
 *
 * A slot is a number and the wave's tag in one 64-bit word, and so needs no fence. Four sets of
 * slots are enough: a block announces wave w + 1 after it gathered w - 1, for which all others had
 * announced w - 1, after they gathered w - 3.
 */
#ifndef LOCKSTEP_KERNELS_WAVES_H
#define LOCKSTEP_KERNELS_WAVES_H

#include "device.h"

/* slots: u64[4][blocks], zero before the launch. */
DEVICE void wave_announce(u64 *slots, u32 wave, u32 bits)
{
    store_relaxed_u64(slots + (wave % 4) * blocks_x() + block_x(), (u64)(wave + 1) << 32 | bits);
}

DEVICE u32 wave_wait(const u64 *slots, u32 wave, u32 block)
{
    const u64 *slot = slots + (wave % 4) * blocks_x() + block;
    u64 word;
    do
        word = load_relaxed_u64(slot);
    while ((u32)(word >> 32) != wave + 1);
    return (u32)word;
}

#endif
