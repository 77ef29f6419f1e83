/*
 * passes.cu: the formulas as they stand: a pass for the largest logit, a pass for the sum of exp(x
 * - largest), a pass that writes gradients over the logits: three reads and a write. Two more
 * kernels count the rows before, and add up their losses afterwards.
 */
// arch: sm_80
#include "entropy.h"

#define BLOCK 512 // tune: 256 512 1024

extern "C" __global__ void __launch_bounds__(BLOCK) passes_bf16(ENTROPY_ARGUMENTS(bf16))
{
    __shared__ float of_warp[32];
    entropy_job<bf16> a = ENTROPY(bf16);
    const bf16 *row = logits + blockIdx.x * cols;
    float most = -INFINITY, sum = 0, total = 0;
    for (long long k = threadIdx.x; k < cols; k += BLOCK)
        most = fmaxf(most, widen(row[k]));
    most = max_block(most, of_warp);
    for (long long k = threadIdx.x; k < cols; k += BLOCK) {
        float x = widen(row[k]);
        sum += power_of_two((x - base(most)) * LOG2_E);
        total += x;
    }
    sum = sum_block(sum, of_warp);
    total = sum_block(total, of_warp);
    outcome o = outcome_of(a, labels[blockIdx.x], known{most, sum, total}, *share);
    if (threadIdx.x == 0)
        write_other_loss(a, blockIdx.x, o);
    for (long long k = threadIdx.x; k < cols; k += BLOCK)
        write_one(a, blockIdx.x, k, o);
}

ENTROPY_ENDS
