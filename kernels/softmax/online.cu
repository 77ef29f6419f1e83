/*
 * online.cu: the largest number and the sum in one pass. A thread that meets a larger number
 * multiplies the sum that it has so far by exp(old - new): that is what the sum would be had it
 * known. Two parts of a row, each with its own largest number, become one in the same way. The row
 * is read twice.
 */
// arch: sm_80
#include "rows.h"

#define BLOCK 256 // tune: 128 256 512 1024

struct part {
    float most, sum; // the sum of exp(scale (x - most))
};

static __device__ part merge(part a, part b, float scale)
{
    if (a.most < b.most) {
        part swap = a;
        a = b;
        b = swap;
    }
    if (b.most == -INFINITY)
        return part{a.most, a.sum + b.sum}; // b has nothing to add, unless it met NaN
    return part{a.most, a.sum + b.sum * expf((b.most - a.most) * scale)};
}

static __device__ part merge_block(part p, float scale)
{
    __shared__ part of_warp[32];
    for (int lanes = 16; lanes > 0; lanes /= 2)
        p = merge(p,
                  part{__shfl_xor_sync(0xffffffff, p.most, lanes),
                       __shfl_xor_sync(0xffffffff, p.sum, lanes)},
                  scale);
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = p;
    __syncthreads();
    p = of_warp[0];
    for (int warp = 1; warp < BLOCK / 32; warp++)
        p = merge(p, of_warp[warp], scale);
    return p;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    softmax(const bf16 *in, long long cols, float scale, bf16 *out)
{
    long long row = blockIdx.x * cols;
    part p = {-INFINITY, 0};
    for (long long k = threadIdx.x; k < cols; k += BLOCK) {
        float x = widen(in[row + k]);
        if (x > p.most) {
            p.sum = p.sum * expf((p.most - x) * scale) + expf(x - x); // 1, but NaN of infinity
            p.most = x;
        } else if (x != -INFINITY) {
            p.sum += expf((x - p.most) * scale);
        }
    }
    p = merge_block(p, scale);
    float most = p.most == -INFINITY ? 0 : p.most, share = p.sum == 0 ? 0 : 1 / p.sum;
    for (long long k = threadIdx.x; k < cols; k += BLOCK)
        narrow(expf((widen(in[row + k]) - most) * scale) * share, &out[row + k]);
}
