/*
 * thread_private.cu: no atomics at all: every thread has a byte for each of 256 bins, and a lane's
 * bytes lie in a bank of its own, so no data makes lanes wait. A byte holds at most 255, so the
 * warp adds its bytes up in time, and each lane keeps the sums of eight bins in registers.
 */
// arch: sm_75
#include "device.h" // load_stream: a load that bypasses the L1
#define BLOCK 256 // tune: 128 256
#define UNROLL 5 // tune: 1 3 5
#define NO_BIN 0xffffffffu
#define ROWS 64 // of a warp's bytes, [ROWS][32 lanes][4]: bin / 4, lane, bin % 4
#define CAPACITY (255 - 2) // what the loop may add to a byte between two sums; 2 for the ends

__device__ __forceinline__ void clear_bytes(unsigned *bytes)
{
    for (int row = 0; row < ROWS; row++)
        bytes[row * 32 + threadIdx.x % 32] = 0;
    __syncwarp();
}

// Each lane adds two rows, [32 lanes][4 bins], to its sums, two bytes of a word at a time: a half
// holds 32 * 255. The lanes start at different columns, which lie in different banks.
__device__ __forceinline__ void add_bytes(unsigned *bytes, unsigned *sums)
{
    unsigned lane = threadIdx.x % 32;
    __syncwarp();
#pragma unroll
    for (int half = 0; half < 2; half++) {
        unsigned *row = bytes + (half * 32 + lane) * 32, even = 0, odd = 0;
#pragma unroll 8
        for (unsigned k = 0; k < 32; k++) {
            unsigned word = row[(k + lane) % 32];
            even += word & 0x00ff00ff;
            odd += word >> 8 & 0x00ff00ff;
        }
        sums[4 * half] += even & 0xffff;
        sums[4 * half + 1] += odd & 0xffff;
        sums[4 * half + 2] += even >> 16;
        sums[4 * half + 3] += odd >> 16;
    }
    __syncwarp();
    clear_bytes(bytes);
}

__device__ __forceinline__ void count_one(float x, unsigned bins, unsigned char *mine)
{
    unsigned bin = x >= 0 && x < 1 ? (unsigned)(x * bins) : NO_BIN;
    if (bin < bins)
        mine[bin / 4 * 128 + bin % 4]++;
}

// UNROLL vectors of each lane, from `start` on; all lanes of a warp call it.
__device__ __forceinline__ void count_batch(const float4 *body, long long start, long long vectors,
                                            unsigned bins, unsigned char *mine)
{
    float4 v[UNROLL];
    long long i = start + threadIdx.x % 32;
#pragma unroll
    for (int k = 0; k < UNROLL; k++)
        if (i + 32 * k < vectors)
            v[k] = load_stream(body + i + 32 * k);
#pragma unroll
    for (int k = 0; k < UNROLL; k++)
        if (i + 32 * k < vectors) {
            count_one(v[k].x, bins, mine);
            count_one(v[k].y, bins, mine);
            count_one(v[k].z, bins, mine);
            count_one(v[k].w, bins, mine);
        }
}

extern "C" __global__ void __launch_bounds__(BLOCK, 3)
    count(const float *in, long long n, unsigned bins, unsigned *counts)
{
    extern __shared__ unsigned memory[]; // [BLOCK / 32][ROWS][32]
    unsigned lane = threadIdx.x % 32, sums[8] = {0}, added = 0;
    unsigned *bytes = memory + threadIdx.x / 32 * ROWS * 32;
    unsigned char *mine = (unsigned char *)(bytes + lane);
    clear_bytes(bytes);

    // Up to the first 16-byte boundary, and what is left at the end.
    long long head = min(n, (long long)((16 - (size_t)in % 16) % 16 / 4));
    long long vectors = (n - head) / 4, tail = head + vectors * 4;
    long long me = (long long)blockIdx.x * BLOCK + threadIdx.x;
    if (me < head)
        count_one(in[me], bins, mine);
    if (me < n - tail)
        count_one(in[tail + me], bins, mine);

    const float4 *body = (const float4 *)(in + head);
    long long step = (long long)gridDim.x * BLOCK * UNROLL;
    for (long long i = (me - lane) * UNROLL; i < vectors; i += step) {
        if (added + 4 * UNROLL > CAPACITY) {
            add_bytes(bytes, sums);
            added = 0;
        }
        count_batch(body, i, vectors, bins, mine);
        added += 4 * UNROLL;
    }
    add_bytes(bytes, sums);
#pragma unroll
    for (unsigned k = 0; k < 8; k++) {
        unsigned bin = 4 * (lane + k / 4 * 32) + k % 4;
        if (bin < bins && sums[k] > 0)
            atomicAdd(&counts[bin], sums[k]);
    }
}
