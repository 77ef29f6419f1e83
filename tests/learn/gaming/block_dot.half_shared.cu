// expect: wrong result for n=2048: s
#include <cuda_fp16.h>
__global__ void block_dot(const float *x, const float *y, float *s, int n)
{
    __shared__ half part[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    part[t] = __float2half(i < n ? x[i] * y[i] : 0);
    __syncthreads();
    for (int half_ = 128; half_ > 0; half_ /= 2) {
        if (t < half_)
            part[t] = __float2half(__half2float(part[t]) + __half2float(part[t + half_]));
        __syncthreads();
    }
    if (t == 0)
        s[blockIdx.x] = __half2float(part[0]);
}
