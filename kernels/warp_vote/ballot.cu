/*
 * ballot.cu: one vote gives every lane the flags of all 32 as a word: the bits below its own are
 * those before it, and popc counts them. For groups a vote on each bit of the values tells which
 * lanes agree in all of them. UNROLL rows are loaded at a time.
 */
// arch: sm_75
#include "device.h"
#include "row.h"

#define BLOCK 256 // tune: 128 256 512
#define UNROLL 8 // tune: 1 2 4 8

// The warp's next UNROLL rows; zeros after the end.
static __device__ void load_rows(const unsigned *in, long long row, long long rows, unsigned *value)
{
#pragma unroll
    for (int k = 0; k < UNROLL; k++) {
        long long at = row + k * row_step();
        value[k] = at < rows ? load_stream(in + at * 32 + threadIdx.x % 32) : 0;
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK, 1024 / BLOCK)
    compact(const unsigned *in, long long rows, unsigned, int *out, int *sizes)
{
    unsigned value[UNROLL];
    for (long long row = first_row(); row < rows; row += UNROLL * row_step()) {
        load_rows(in, row, rows, value);
#pragma unroll
        for (int k = 0; k < UNROLL; k++) {
            long long at = row + k * row_step();
            unsigned votes = __ballot_sync(0xffffffff, value[k] != 0), count = __popc(votes);
            if (at < rows)
                store_compacted(out, at, value[k], __popc(votes & lanes_below()), count);
            if (at < rows && threadIdx.x % 32 == 0)
                sizes[at] = count;
        }
    }
}

// The lanes whose value is the same, by its lowest bits.
static __device__ unsigned lanes_alike(unsigned value, unsigned bits)
{
    unsigned same = 0xffffffff;
    for (unsigned bit = 0; bit < bits; bit++) {
        bool set = value >> bit & 1;
        unsigned votes = __ballot_sync(0xffffffff, set);
        same &= set ? votes : ~votes;
    }
    return same;
}

extern "C" __global__ void __launch_bounds__(BLOCK, 1024 / BLOCK)
    group(const unsigned *in, long long rows, unsigned bits, int *out, int *sizes)
{
    unsigned value[UNROLL];
    for (long long row = first_row(); row < rows; row += UNROLL * row_step()) {
        load_rows(in, row, rows, value);
#pragma unroll
        for (int k = 0; k < UNROLL; k++) {
            long long at = row + k * row_step();
            int before = __popc(lanes_alike(value[k], bits) & lanes_below());
            int distinct = __popc(__ballot_sync(0xffffffff, before == 0));
            if (at < rows)
                out[at * 32 + threadIdx.x % 32] = before;
            if (at < rows && threadIdx.x % 32 == 0)
                sizes[at] = distinct;
        }
    }
}
