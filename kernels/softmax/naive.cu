/*
 * naive.cu: exp(x) over the sum of all exp(x), a block for each row. It follows the formula, and it
 * is wrong for rows with a number above 88: exp(89) is more than the largest f32, and infinity over
 * infinity is not a number. (In f16 arithmetic 12 is enough: exp(100) is out of the question.)
 */
// arch: sm_80
#include "rows.h"

#define BLOCK 256 // tune: 128 256 512 1024

extern "C" __global__ void __launch_bounds__(BLOCK)
    softmax(const bf16 *in, long long cols, float scale, bf16 *out)
{
    __shared__ float of_warp[32];
    long long row = blockIdx.x * cols;
    float sum = 0;
    for (long long k = threadIdx.x; k < cols; k += BLOCK)
        sum += expf(widen(in[row + k]) * scale);
    sum = sum_block(sum, of_warp);
    for (long long k = threadIdx.x; k < cols; k += BLOCK)
        narrow(expf(widen(in[row + k]) * scale) / sum, &out[row + k]);
}
