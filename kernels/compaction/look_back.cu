/*
 * look_back.cu: one pass, by the decoupled look-back of scan/look_back.cu. A block takes the next
 * tile, announces how many elements the tile keeps, and looks back for the counts before it, so
 * that the input is read only once. What is kept is packed in shared memory first, so that
 * neighbouring lanes write neighbouring elements. clear zeroes the ticket and the tiles' states
 * beforehand.
 */
// arch: sm_75
#include "select_rows.h" // load4, kept_of_four, keep_row, write_kept, warp_sum
#define BLOCK 256 // tune: 128 256 512
#define ROWS 8 // tune: 2 4 8
#define WARPS (BLOCK / 32)
#define WARP_TILE (128 * ROWS)
#define TILE ((long long)BLOCK * 4 * ROWS)
// A tile's state: what it has announced in the upper two bits, nothing at first; a count below
// them.
#define COUNT (1ull << 62)  // of the tile
#define PREFIX (2ull << 62) // of everything up to the tile's end
#define NUMBER (COUNT - 1)

// How many elements are kept before the tile; called by one whole warp. Lane 0 watches the tile
// just before, lane 1 the one before that, and so on.
__device__ __forceinline__ long long look_back(const unsigned long long *states, long long tile)
{
    unsigned lane = threadIdx.x % 32;
    unsigned long long before = 0;
    for (long long last = tile - 1;; last -= 32) {
        long long watched = last - lane;
        unsigned long long state;
        do
            state = watched >= 0 ? load_relaxed(states + watched) : PREFIX;
        while (__any_sync(0xffffffff, state < COUNT));
        unsigned known = __ballot_sync(0xffffffff, state >= PREFIX);
        // The nearest known prefix covers all the tiles before it: the lanes above add nothing.
        unsigned nearest = known ? __ffs(known) - 1 : 31;
        unsigned long long number = lane <= nearest ? state & NUMBER : 0;
        for (int distance = 16; distance > 0; distance /= 2)
            number += __shfl_xor_sync(0xffffffff, number, distance);
        before += number;
        if (known)
            return (long long)before;
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    compact(const float *in, long long n, float threshold, float *out, long long *total,
            unsigned *ticket, unsigned long long *states)
{
    __shared__ float kept[WARPS][WARP_TILE];
    __shared__ unsigned kept_by[WARPS];
    __shared__ long long before_tile;
    __shared__ unsigned taken;
    unsigned thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
    if (thread == 0)
        taken = atomicAdd(ticket, 1);
    __syncthreads();
    long long tile = taken, start = tile * TILE + warp * WARP_TILE + lane * 4;
    bool aligned = (size_t)in % 16 == 0;

    float4 v[ROWS];
#pragma unroll
    for (int row = 0; row < ROWS; row++)
        v[row] = load4(in + start + row * 128, n - (start + row * 128), aligned);
    unsigned count = 0;
#pragma unroll
    for (int row = 0; row < ROWS; row++)
        count = keep_row(v[row], kept_of_four(v[row], n - (start + row * 128), threshold),
                         kept[warp], count);
    if (lane == 0)
        kept_by[warp] = count;
    __syncthreads();

    // Announce the count, so that later tiles can go on; look back; announce the prefix.
    if (warp == 0) {
        unsigned all = warp_sum(lane < WARPS ? kept_by[lane] : 0);
        if (lane == 0)
            store_relaxed(states + tile, (tile > 0 ? COUNT : PREFIX) | all);
        long long before = tile > 0 ? look_back(states, tile) : 0;
        if (lane == 0) {
            before_tile = before;
            if (tile > 0)
                store_relaxed(states + tile, PREFIX | (before + all));
            if (tile == gridDim.x - 1)
                *total = before + all;
        }
    }
    __syncthreads();
    long long at = before_tile;
    for (unsigned other = 0; other < warp; other++)
        at += kept_by[other];
    write_kept(kept[warp], count, out + at);
}

// Before compact: the ticket and the states to zero, a 64-bit word each thread.
extern "C" __global__ void clear(unsigned long long *words, long long count)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        words[i] = 0;
}
