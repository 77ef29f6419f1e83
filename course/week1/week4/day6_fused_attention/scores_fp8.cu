// scores_fp8: s[j] = ks[j] * q . kq[j], with keys of 32 E4M3 codes. A block has 4 warps and 16 keys.
//
// A warp has a key at a time, a byte for each lane: loads of 32 bytes, where a warp can load 512.
#include <cuda_fp8.h>

__global__ void scores_fp8(const float *q, const __nv_fp8_e4m3 *kq, const float *ks, float *s, int keys)
{
    int lane = threadIdx.x % 32, first = blockIdx.x * 16 + threadIdx.x / 32 * 4;
    // TODO: an unsigned for each lane, four codes: eight lanes have a key, the warp has four at a time.
    for (int j = first; j < first + 4 && j < keys; j++) {
        float sum = q[lane] * (float)kq[j * 32 + lane];
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, step);
        if (lane == 0)
            s[j] = ks[j] * sum;
    }
}
