// expect: wrong result for n=[0-9]+ d=[0-9]+: s
// scores: partial sums travel as pairs of halves
#include <cuda_fp16.h>
__global__ void scores(const float *q, const float *keys, float *s, int n, int d)
{
    int lane = threadIdx.x % 32, j = blockIdx.x * 8 + threadIdx.x / 32;
    float sum = 0;
    for (int i = lane; j < n && i < d; i += 32)
        sum += q[i] * keys[j * d + i];
    float high = __half2float(__float2half(sum)), low = __half2float(__float2half(sum - high));
    sum = high + low;
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, step);
    if (j < n && lane == 0)
        s[j] = sum;
}
