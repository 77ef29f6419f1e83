/*
 * overlapped.cu: for short inputs, like scan/overlapped.cu: two launches, of which the second
 * overlaps the first. count_tiles counts what each tile keeps; at the same time compact loads the
 * same tiles and packs what they keep in shared memory. Once count_tiles has ended, all that
 * remains is to add up the counts before a tile, and to write.
 */
// arch: sm_90
#include "select_rows.h" // load4, kept_of_four, keep_row, write_kept, warp_sum
#define BLOCK 256 // tune: 256 512 1024
#define ROWS 1 // tune: 1 2 4 8
#define WARPS (BLOCK / 32)
#define WARP_TILE (128 * ROWS)
#define TILE ((long long)BLOCK * 4 * ROWS)

// From one number of each warp to all of them in every warp: lane w gets warp w's, lanes from WARPS
// on get 0. A barrier; of_warp must not be written again.
__device__ __forceinline__ unsigned exchange(unsigned *of_warp, unsigned mine)
{
    unsigned lane = threadIdx.x % 32;
    if (lane == 0)
        of_warp[threadIdx.x / 32] = mine;
    __syncthreads();
    return lane < WARPS ? of_warp[lane] : 0;
}

// Where this thread's first row begins.
__device__ __forceinline__ long long first_element()
{
    return blockIdx.x * TILE + threadIdx.x / 32 * WARP_TILE + threadIdx.x % 32 * 4;
}

// One test for the whole tile: rows that are tested one by one may wait for each other.
__device__ __forceinline__ void load_rows(const float *in, long long n, float4 *v)
{
    long long at = first_element();
    bool aligned = (size_t)in % 16 == 0;
    if (aligned && (blockIdx.x + 1) * TILE <= n) {
#pragma unroll
        for (int row = 0; row < ROWS; row++)
            v[row] = load_stream((const float4 *)(in + at + row * 128));
    } else {
#pragma unroll
        for (int row = 0; row < ROWS; row++)
            v[row] = load4(in + at + row * 128, n - at - row * 128, aligned);
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    count_tiles(const float *in, long long n, float threshold, unsigned *counts)
{
    __shared__ unsigned kept_by[WARPS];
    float4 v[ROWS];
    long long left = n - first_element();
    unsigned count = 0;
    cudaTriggerProgrammaticLaunchCompletion(); // compact may start now
    load_rows(in, n, v);
#pragma unroll
    for (int row = 0; row < ROWS; row++, left -= 128)
        count += __popc(kept_of_four(v[row], left, threshold));
    count = exchange(kept_by, warp_sum(count));
    if (threadIdx.x < 32) {
        count = warp_sum(count);
        if (threadIdx.x == 0)
            counts[blockIdx.x] = count;
    }
}

// What is kept before this block's tile; every thread gets a part of it, four loads at a time.
__device__ __forceinline__ unsigned gather(const unsigned *counts)
{
    unsigned sum = 0;
    for (unsigned first = threadIdx.x; first < blockIdx.x; first += 4 * BLOCK) {
        unsigned count[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            unsigned tile = first + k * BLOCK;
            count[k] = tile < blockIdx.x ? load_relaxed(counts + tile) : 0;
        }
        sum += count[0] + count[1] + count[2] + count[3];
    }
    return sum;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    compact(const float *in, long long n, float threshold, float *out, long long *total,
            const unsigned *counts)
{
    extern __shared__ float packed[]; // [WARPS][WARP_TILE]
    __shared__ unsigned kept_by[WARPS], seen_by[WARPS];
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, count = 0;
    float *kept = packed + warp * WARP_TILE;
    long long left = n - first_element();
    float4 v[ROWS];
    load_rows(in, n, v);
#pragma unroll
    for (int row = 0; row < ROWS; row++, left -= 128)
        count = keep_row(v[row], kept_of_four(v[row], left, threshold), kept, count);
    unsigned others = exchange(kept_by, count);
    unsigned all = warp_sum(others), before = warp_sum(lane < warp ? others : 0);

    cudaGridDependencySynchronize(); // count_tiles has ended, and its counts can be read
    unsigned seen = warp_sum(exchange(seen_by, warp_sum(gather(counts))));
    write_kept(kept, count, out + seen + before);
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0)
        *total = seen + all;
}
