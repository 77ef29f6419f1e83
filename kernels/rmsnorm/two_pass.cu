/*
 * two_pass.cu: the formula as it stands: a block adds up the squares of its row, then reads the row
 * again and multiplies each number by 1 / sqrt(mean + eps) and by gamma. Squares of numbers above
 * 1.8e19 overflow; the later steps measure such a row again, scaled.
 */
// arch: sm_80
#include "rows.h"

#define BLOCK 256 // tune: 128 256 512 1024

extern "C" __global__ void __launch_bounds__(BLOCK)
    rmsnorm(const bf16 *x, const bf16 *gamma, bf16 *y, long long cols, float eps)
{
    __shared__ float of_warp[32];
    long long row = blockIdx.x * cols;
    float squares = 0;
    for (long long k = threadIdx.x; k < cols; k += BLOCK) {
        float value = widen(x[row + k]);
        squares = fmaf(value, value, squares);
    }
    squares = sum_block(squares, of_warp);
    float rstd = 1 / sqrtf(squares / cols + eps);
    for (long long k = threadIdx.x; k < cols; k += BLOCK)
        narrow(widen(x[row + k]) * rstd * widen(gamma[k]), &y[row + k]);
}
