/*
 * persistent.cu: one pass without look-back. The grid stays on the GPU and walks over the input in
 * waves: in wave w block b has tile w * blocks + b. In every wave each block reads the sums of all
 * blocks, a few hundred words, and adds them up itself: one round trip to the L2, no chain of
 * look-backs, and always the same order, so that the result has the same bits in every run.
 *
 * The tile of the next wave is summed and announced before this wave's is scanned, so that nobody
 * waits for the L2, and cp.async keeps STAGES tiles on their way. All blocks must be on the GPU at
 * once (a cooperative launch); slots, unsigned long long[4][blocks], are zero before it.
 */
// arch: sm_80
#include "tile.h" // load4, store4, scan4, warp_scan, warp_sum
#define BLOCK 512 // tune: 256 512 1024
#define ROWS 4 // tune: 2 4 8
#define STAGES 3 // tune: 2 3 4
#define WARPS (BLOCK / 32)
#define WARP_TILE (128 * ROWS)
#define TILE ((long long)BLOCK * 4 * ROWS)

// A slot holds a block's sum and, above it, the number of the wave it belongs to plus one. Four
// sets of slots that take turns are enough: a block announces wave w + 1 after it has gathered w -
// 1, so all others have announced w - 1, and they did that after they had gathered w - 3.
__device__ __forceinline__ void announce(unsigned long long *slots, unsigned wave, float sum)
{
    store_relaxed(slots + wave % 4 * gridDim.x + blockIdx.x,
                  (unsigned long long)(wave + 1) << 32 | __float_as_uint(sum));
}

__device__ __forceinline__ float wait_for(const unsigned long long *slots, unsigned wave,
                                          unsigned block)
{
    unsigned long long slot;
    do
        slot = load_relaxed(slots + wave % 4 * gridDim.x + block);
    while ((unsigned)(slot >> 32) != wave + 1);
    return __uint_as_float((unsigned)slot);
}

// Where this thread's row begins in the input; past the end for waves that do not exist.
__device__ __forceinline__ long long row_start(unsigned wave, unsigned row)
{
    long long tile = (long long)wave * gridDim.x + blockIdx.x;
    return tile * TILE + threadIdx.x / 32 * WARP_TILE + row * 128 + threadIdx.x % 32 * 4;
}

// Starts the copy of this block's tile of a wave into its stage, [ROWS][BLOCK]. Each thread copies
// what it will scan itself, so the data need no barrier.
__device__ __forceinline__ void fetch(const float *in, long long n, unsigned wave, float4 *stages,
                                      bool aligned)
{
    float4 *stage = stages + wave % STAGES * ROWS * BLOCK + threadIdx.x;
#pragma unroll
    for (unsigned row = 0; row < ROWS; row++) {
        long long at = row_start(wave, row), left = n - at;
        unsigned bytes = left >= 4 ? 16 : left > 0 ? (unsigned)left * 4 : 0;
        if (aligned)
            copy_async_16(stage + row * BLOCK, bytes ? in + at : in, bytes);
        else
            stage[row * BLOCK] = load4(in + at, left, false);
    }
    copy_async_commit();
}

__device__ __forceinline__ float sum_stage(const float4 *stages, unsigned wave)
{
    const float4 *stage = stages + wave % STAGES * ROWS * BLOCK + threadIdx.x;
    float sum = 0;
#pragma unroll
    for (unsigned row = 0; row < ROWS; row++)
        sum += sum4(stage[row * BLOCK]);
    return warp_sum(sum);
}

// By warp 0: what comes before each warp in the tile; the tile's sum to all blocks.
__device__ __forceinline__ void scan_warps(unsigned long long *slots, unsigned wave,
                                           const float *warp_total, float *warp_before)
{
    unsigned lane = threadIdx.x;
    float up_to = warp_scan(lane < WARPS ? warp_total[lane] : 0);
    float below = __shfl_up_sync(0xffffffff, up_to, 1);
    if (lane < WARPS)
        warp_before[lane] = lane > 0 ? below : 0;
    if (lane == 31)
        announce(slots, wave, up_to);
}

// before: what comes before this warp's rows.
__device__ __forceinline__ void scan_stage(const float4 *stages, unsigned wave, float *out,
                                           long long n, float before, bool aligned, bool exclusive)
{
    const float4 *stage = stages + wave % STAGES * ROWS * BLOCK + threadIdx.x;
    float4 v[ROWS];
    float up_to[ROWS];
#pragma unroll
    for (unsigned row = 0; row < ROWS; row++) {
        v[row] = stage[row * BLOCK];
        up_to[row] = warp_scan(sum4(v[row]));
    }
#pragma unroll
    for (unsigned row = 0; row < ROWS; row++) {
        long long at = row_start(wave, row);
        float below = __shfl_up_sync(0xffffffff, up_to[row], 1);
        store4(out + at, n - at, aligned,
               scan4(v[row], threadIdx.x % 32 > 0 ? before + below : before, exclusive));
        before += __shfl_sync(0xffffffff, up_to[row], 31);
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    scan(const float *in, long long n, float *out, unsigned long long *slots, int exclusive)
{
    extern __shared__ float4 stages[]; // [STAGES][ROWS][BLOCK]
    __shared__ float warp_total[2][WARPS], warp_before[2][WARPS];
    __shared__ float gathered[2][WARPS], gathered_before[2][WARPS];
    unsigned thread = threadIdx.x, warp = thread / 32;
    long long tiles = (n + TILE - 1) / TILE;
    unsigned waves = (unsigned)((tiles + gridDim.x - 1) / gridDim.x);
    bool aligned = is_aligned(in, out);
    float carry = 0; // the sum of all waves before

    for (unsigned wave = 0; wave < STAGES; wave++)
        fetch(in, n, wave, stages, aligned);
    copy_async_wait(STAGES - 1);
    float total = sum_stage(stages, 0);
    if (thread % 32 == 0)
        warp_total[0][warp] = total;
    __syncthreads();
    if (warp == 0)
        scan_warps(slots, 0, warp_total[0], warp_before[0]);

    for (unsigned wave = 0; wave < waves; wave++) {
        unsigned now = wave % 2, next = 1 - now;
        copy_async_wait(STAGES - 2);
        total = sum_stage(stages, wave + 1);
        if (thread % 32 == 0)
            warp_total[next][warp] = total;
        __syncthreads();
        if (warp == 0 && wave + 1 < waves) // first tell, then ask
            scan_warps(slots, wave + 1, warp_total[next], warp_before[next]);
        float all = 0, before = 0;
        for (unsigned block = thread; block < gridDim.x; block += BLOCK) {
            float sum = wait_for(slots, wave, block);
            all += sum;
            before += block < blockIdx.x ? sum : 0;
        }
        all = warp_sum(all);
        before = warp_sum(before);
        if (thread % 32 == 0) {
            gathered[now][warp] = all;
            gathered_before[now][warp] = before;
        }
        __syncthreads();
        float start = carry;
        for (int other = 0; other < WARPS; other++) {
            start += gathered_before[now][other];
            carry += gathered[now][other];
        }
        scan_stage(stages, wave, out, n, start + warp_before[now][warp], aligned, exclusive != 0);
        fetch(in, n, wave + STAGES, stages, aligned);
    }
    copy_async_wait(0);
}
