/*
 * generic.cu: scans of other types than float, on any GPU: short inputs as in recompute.cu, all
 * others as in look_back.cu. A type needs a pair of wrappers at the end of the file, and the
 * operators of a number.
 */
// arch: sm_75
#include "generic.h"
#define SHORT_BLOCK 1024 // tune: 256 512 1024
#define BLOCK 256 // tune: 128 256 512
#define ROWS 8 // tune: 2 4 8
#define AHEAD 4 // loads of a thread in flight while it adds up what comes before

// What a tile has announced, in the upper half of its state; see look_back.cu.
enum { NOTHING, SUM, PREFIX };

template <typename T>
__device__ __forceinline__ unsigned long long make_state(unsigned what, T number)
{
    return (unsigned long long)what << 32 | bits_as<unsigned>(number);
}

template <typename T>
__device__ __forceinline__ void scan_short(const T *in, long long n, T *out, bool exclusive)
{
    constexpr int WARPS = SHORT_BLOCK / 32;
    constexpr long long TILE = SHORT_BLOCK * 4;
    __shared__ T seen_by[WARPS], total_of[WARPS];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    long long start = blockIdx.x * TILE, at = start + threadIdx.x * 4;
    bool aligned = ((size_t)in | (size_t)out) % 16 == 0;
    rows<T, 1> tile;
    tile.load(in, at, n, aligned);

    T seen = 0;
    for (long long i = threadIdx.x * 4; i < start; i += AHEAD * TILE) {
        four<T> v[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; k++)
            v[k] = load_four(in + i + k * TILE, start - (i + k * TILE), aligned);
#pragma unroll
        for (int k = 0; k < AHEAD; k++)
            seen += sum_four(v[k]);
    }
    seen = sum_lanes(seen);
    if (lane == 0)
        seen_by[warp] = seen;
    tile.scan();
    T total = exchange<WARPS>(total_of, tile.total());
    T before = lane < WARPS ? seen_by[lane] : 0;
    before = sum_lanes(before + (lane < warp ? total : 0));
    tile.write(out, at, n, before, aligned, exclusive);
}

template <typename T>
__device__ __forceinline__ T look_back(const unsigned long long *states, long long tile)
{
    T before = 0;
    for (long long watched = tile - 1 - threadIdx.x % 32;; watched -= 32) {
        unsigned long long state;
        do
            state = watched >= 0 ? load_relaxed(states + watched) : make_state<T>(PREFIX, 0);
        while (__any_sync(0xffffffff, state >> 32 == NOTHING));
        unsigned known = __ballot_sync(0xffffffff, state >> 32 == PREFIX);
        unsigned adding = known ? known ^ (known - 1) : 0xffffffff; // up to the nearest prefix
        before += sum_lanes(adding >> threadIdx.x % 32 & 1 ? bits_as<T>((unsigned)state) : 0);
        if (known)
            return before;
    }
}

template <typename T>
__device__ __forceinline__ void scan_tiles(const T *in, long long n, T *out, unsigned *ticket,
                                           unsigned long long *states, bool exclusive)
{
    constexpr int WARPS = BLOCK / 32;
    __shared__ T total_of[WARPS], before_tile;
    __shared__ unsigned taken;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0)
        taken = atomicAdd(ticket, 1);
    __syncthreads();
    long long tile = taken, at = (tile * WARPS + warp) * 128 * ROWS + lane * 4;
    bool aligned = ((size_t)in | (size_t)out) % 16 == 0;
    rows<T, ROWS> part;
    part.load(in, at, n, aligned);
    part.scan();
    T total = exchange<WARPS>(total_of, part.total());
    if (warp == 0) {
        T sum = sum_lanes(total);
        if (lane == 0)
            store_relaxed(states + tile, make_state(tile == 0 ? PREFIX : SUM, sum));
        T before = tile == 0 ? 0 : look_back<T>(states, tile);
        if (lane == 0) {
            before_tile = before;
            store_relaxed(states + tile, make_state(PREFIX, before + sum));
        }
    }
    __syncthreads();
    T before = before_tile + sum_lanes(lane < warp ? total : 0);
    part.write(out, at, n, before, aligned, exclusive);
}

// i32; sums wrap.
extern "C" __global__ void __launch_bounds__(SHORT_BLOCK)
    scan_short_i32(const int *in, long long n, int *out, int exclusive)
{
    scan_short(in, n, out, exclusive != 0);
}
extern "C" __global__ void __launch_bounds__(BLOCK)
    scan_i32(const int *in, long long n, int *out, unsigned *ticket, unsigned long long *states,
             int exclusive)
{
    scan_tiles(in, n, out, ticket, states, exclusive != 0);
}
