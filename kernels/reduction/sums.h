/*
 * sums.h: what block_atomics, overlapped and vectorised share: warp_shuffle's sum of a block, and how
 * an array of floats is cut into 16-byte vectors.
 */
#ifndef LOCKSTEP_REDUCTION_SUMS_H
#define LOCKSTEP_REDUCTION_SUMS_H

/* Thread 0 gets the sum of the whole block, which is whole warps. */
static __device__ float block_sum(float sum)
{
    __shared__ float of_warp[32];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (int lanes = 16; lanes > 0; lanes /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, lanes);
    if (lane == 0)
        of_warp[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = lane < warps ? of_warp[lane] : 0;
        for (int lanes = 16; lanes > 0; lanes /= 2)
            sum += __shfl_down_sync(0xffffffff, sum, lanes);
    }
    return sum;
}

/* The aligned part of an array; the up to three numbers before it and up to three after it go to
 * the first threads of the grid, one each. */
struct vectors {
    const float4 *at;
    long long count;
    float rest;
};

static __device__ vectors split(const float *in, long long n, long long thread)
{
    long long head = min(n, (long long)((16 - (size_t)in % 16) % 16 / sizeof(float)));
    long long count = (n - head) / 4, tail = head + 4 * count;
    long long one = thread < head ? thread : tail + thread - head;
    return vectors{(const float4 *)(in + head), count, one < n ? in[one] : 0};
}

#endif
