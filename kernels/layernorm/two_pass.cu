/*
 * two_pass.cu: the formula as it stands: a pass for the mean, a pass for the squares of the
 * distances from it, a pass that writes: the row is read three times. Subtracting the square of
 * the mean from the mean of the squares would save a pass, and lose every digit where the mean is
 * large.
 */
// arch: sm_80
#include "rows.h"

#define BLOCK 256 // tune: 128 256 512 1024

extern "C" __global__ void __launch_bounds__(BLOCK)
    layernorm(const bf16 *x, const bf16 *gamma, const bf16 *beta, bf16 *y, long long cols,
              float eps)
{
    __shared__ float of_warp[32];
    long long row = blockIdx.x * cols;
    float sum = 0, squares = 0;
    for (long long k = threadIdx.x; k < cols; k += BLOCK)
        sum += widen(x[row + k]);
    float mean = sum_block(sum, of_warp) / cols;
    for (long long k = threadIdx.x; k < cols; k += BLOCK) {
        float distance = widen(x[row + k]) - mean;
        squares = fmaf(distance, distance, squares);
    }
    float rstd = 1 / sqrtf(sum_block(squares, of_warp) / cols + eps);
    for (long long k = threadIdx.x; k < cols; k += BLOCK)
        narrow(fmaf((widen(x[row + k]) - mean) * rstd, widen(gamma[k]), widen(beta[k])),
               &y[row + k]);
}
