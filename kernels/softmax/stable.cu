/*
 * stable.cu: exp(x - m), where m is the row's largest number, over the sum of these: the same
 * value, and nothing overflows, since no exponent is above 0. The price is a pass of its own to
 * find m: the row is read three times.
 */
// arch: sm_80
#include "rows.h"

#define BLOCK 256 // tune: 128 256 512 1024

extern "C" __global__ void __launch_bounds__(BLOCK)
    softmax(const bf16 *in, long long cols, float scale, bf16 *out)
{
    __shared__ float of_warp[32];
    long long row = blockIdx.x * cols;
    float most = -INFINITY, sum = 0;
    for (long long k = threadIdx.x; k < cols; k += BLOCK)
        most = fmaxf(most, widen(in[row + k]));
    most = max_block(most, of_warp);
    if (most == -INFINITY)
        most = 0; // which cannot be subtracted from itself: such a row gets zeros
    for (long long k = threadIdx.x; k < cols; k += BLOCK)
        sum += expf((widen(in[row + k]) - most) * scale);
    sum = sum_block(sum, of_warp);
    float share = sum == 0 ? 0 : 1 / sum;
    for (long long k = threadIdx.x; k < cols; k += BLOCK)
        narrow(expf((widen(in[row + k]) - most) * scale) * share, &out[row + k]);
}
