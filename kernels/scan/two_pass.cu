/*
 * two_pass.cu: reduce, then scan. A grid that fills the GPU sums its shares of the input, one block
 * scans those few sums, and the grid reads its shares again and scans them from the right start: 12
 * bytes an element in place of 16, in three launches for every n, with 16-byte accesses.
 */
// arch: sm_75
#include "tile.h" // load4, store4, warp_scan, warp_sum
#define BLOCK 256 // tune: 128 256 512 1024
#define BLOCKS_PER_SM 4 // tune: 2 4 8
#define WARPS (BLOCK / 32)
#define TILE (BLOCK * 4)

// Where a block's share begins: each has the same number of whole tiles.
__device__ __forceinline__ long long share_start(long long n, long long block)
{
    long long tiles = (n + TILE - 1) / TILE, each = (tiles + gridDim.x - 1) / gridDim.x;
    return min(block * each * TILE, n);
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    sum_shares(const float *in, long long n, float *sums)
{
    __shared__ float warp_total[WARPS];
    long long end = share_start(n, blockIdx.x + 1);
    bool aligned = is_aligned(in, in);
    float sum = 0;
    for (long long at = share_start(n, blockIdx.x) + threadIdx.x * 4; at < end; at += TILE)
        sum += sum4(load4(in + at, end - at, aligned));
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0)
        warp_total[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        sum = 0;
        for (int warp = 0; warp < WARPS; warp++)
            sum += warp_total[warp];
        sums[blockIdx.x] = sum;
    }
}

// By one block: sums[i] becomes the sum of those before it.
extern "C" __global__ void __launch_bounds__(BLOCK) scan_sums(float *sums, unsigned count)
{
    __shared__ float warp_total[WARPS];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float carry = 0; // what comes before this round's BLOCK sums
    for (unsigned start = 0; start < count; start += BLOCK) {
        unsigned i = start + threadIdx.x;
        float up_to = warp_scan(i < count ? sums[i] : 0);
        float below = __shfl_up_sync(0xffffffff, up_to, 1);
        __syncthreads();
        if (lane == 31)
            warp_total[warp] = up_to;
        __syncthreads();
        float before = carry;
        for (int other = 0; other < WARPS; other++) {
            before += other < warp ? warp_total[other] : 0;
            carry += warp_total[other];
        }
        if (i < count)
            sums[i] = before + (lane > 0 ? below : 0);
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    scan_shares(const float *in, long long n, float *out, const float *sums, int exclusive)
{
    __shared__ float warp_total[2][WARPS]; // tiles take turns, so that one barrier a tile is enough
    long long start = share_start(n, blockIdx.x), end = share_start(n, blockIdx.x + 1);
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, turn = 0;
    bool aligned = is_aligned(in, out);
    float carry = start < n ? sums[blockIdx.x] : 0;
    for (long long tile = start; tile < end; tile += TILE, turn = 1 - turn) {
        long long at = tile + threadIdx.x * 4;
        float4 v = load4(in + at, end - at, aligned);
        float up_to = warp_scan(sum4(v)), below = __shfl_up_sync(0xffffffff, up_to, 1);
        if (lane == 31)
            warp_total[turn][warp] = up_to;
        __syncthreads();
        float before = carry;
        for (int other = 0; other < WARPS; other++) {
            before += other < warp ? warp_total[turn][other] : 0;
            carry += warp_total[turn][other];
        }
        store4(out + at, end - at, aligned,
               scan4(v, lane > 0 ? before + below : before, exclusive != 0));
    }
}
