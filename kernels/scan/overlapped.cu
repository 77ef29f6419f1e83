/*
 * overlapped.cu: for short inputs: two launches, of which the second overlaps the first. sum_tiles
 * sums each tile; at the same time scan loads the same tiles and scans each by itself. Once
 * sum_tiles has ended, all that remains is to add up the sums before a tile, all at once and always
 * in the same order, and to write. Every tile is read twice, at nearly the same time, but no block
 * waits for another of its own launch, and nothing has to be cleared.
 */
// arch: sm_90
#include "tile.h" // load4, store4, warp_sum; tile_rows: a tile scanned in registers
#define BLOCK 256 // tune: 256 512 1024
#define ROWS 2 // tune: 1 2 4 8
#define WARPS (BLOCK / 32)
#define WARP_TILE (128 * ROWS)
#define TILE ((long long)BLOCK * 4 * ROWS)

// Where this thread's first row begins.
__device__ __forceinline__ long long first_element()
{
    return blockIdx.x * TILE + threadIdx.x / 32 * WARP_TILE + threadIdx.x % 32 * 4;
}

// One test for the whole tile: rows that are tested one by one may wait for each other.
__device__ __forceinline__ void load_rows(const float *in, long long n, bool aligned,
                                          tile_rows<ROWS> *tile)
{
    long long at = first_element();
    if (aligned && (blockIdx.x + 1) * TILE <= n) {
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            tile->row[i] = load_stream((const float4 *)(in + at + i * 128));
    } else {
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            tile->row[i] = load4(in + at + i * 128, n - at - i * 128, aligned);
    }
}

// From one number of each warp to all of them in every warp: lane w gets warp w's, lanes from WARPS
// on get 0. A barrier; of_warp must not be written again.
__device__ __forceinline__ float exchange(float *of_warp, float mine)
{
    unsigned lane = threadIdx.x % 32;
    if (lane == 0)
        of_warp[threadIdx.x / 32] = mine;
    __syncthreads();
    return lane < WARPS ? of_warp[lane] : 0;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    sum_tiles(const float *in, long long n, float *sums)
{
    __shared__ float total_of[WARPS];
    tile_rows<ROWS> tile;
    float sum = 0;
    cudaTriggerProgrammaticLaunchCompletion(); // scan may start now
    load_rows(in, n, is_aligned(in, in), &tile);
#pragma unroll
    for (int i = 0; i < ROWS; i++)
        sum += sum4(tile.row[i]);
    sum = exchange(total_of, warp_sum(sum));
    if (threadIdx.x < 32) {
        sum = warp_sum(sum);
        if (threadIdx.x == 0)
            sums[blockIdx.x] = sum;
    }
}

// What comes before this block's tile; every thread gets a part of it, four loads at a time.
__device__ __forceinline__ float gather(const float *sums)
{
    float sum = 0;
    for (unsigned first = threadIdx.x; first < blockIdx.x; first += 4 * BLOCK) {
        unsigned bits[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            unsigned tile = first + k * BLOCK;
            bits[k] = tile < blockIdx.x ? load_relaxed((const unsigned *)sums + tile) : 0;
        }
#pragma unroll
        for (int k = 0; k < 4; k++)
            sum += __uint_as_float(bits[k]);
    }
    return sum;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    scan(const float *in, long long n, float *out, const float *sums, int exclusive)
{
    __shared__ float total_of[WARPS], seen_by[WARPS];
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    bool aligned = is_aligned(in, out);
    tile_rows<ROWS> tile;
    load_rows(in, n, aligned, &tile);
    float total = exchange(total_of, scan_rows(&tile));
    float before = warp_sum(lane < warp ? total : 0);

    cudaGridDependencySynchronize(); // sum_tiles has ended, and its sums can be read
    float seen = warp_sum(gather(sums));
    before += warp_sum(exchange(seen_by, seen));
    write_rows(&tile, out, first_element(), n, before, aligned, exclusive != 0);
}
