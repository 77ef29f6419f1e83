/*
 * welford.cu: the mean and the squares around it in one pass (Welford): a number that arrives moves
 * the mean a little, and its distances from the old and the new mean multiplied are what the
 * squares grow by. Two parts of a row become one in a similar way (merge in norm.h). The row is
 * read twice; but each number waits for the one before, with a division between them.
 */
// arch: sm_80
#include "norm.h"

#define BLOCK 256 // tune: 128 256 512 1024

extern "C" __global__ void __launch_bounds__(BLOCK)
    layernorm(const bf16 *x, const bf16 *gamma, const bf16 *beta, bf16 *y, long long cols,
              float eps)
{
    __shared__ moments of_warp[32];
    long long row = blockIdx.x * cols;
    moments m = {0, 0, 0};
    for (long long k = threadIdx.x; k < cols; k += BLOCK) {
        float value = widen(x[row + k]), distance = value - m.mean;
        m.count++;
        m.mean += distance / m.count;
        m.squares = fmaf(distance, value - m.mean, m.squares);
    }
    m = merge_block<true>(m, of_warp);
    float rstd = 1 / sqrtf(m.squares / cols + eps);
    for (long long k = threadIdx.x; k < cols; k += BLOCK)
        narrow(fmaf((widen(x[row + k]) - m.mean) * rstd, widen(gamma[k]), widen(beta[k])),
               &y[row + k]);
}
