// expect: wrong result for m=[0-9]+ k=[0-9]+: y
#include <cuda_fp16.h>
__global__ void matvec(const float *a, const float *x, float *y, int m, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m)
        return;
    float sum = 0;
    for (int p = 0; p < k; p++)
        sum += __half2float(__float2half(a[i * k + p])) * x[p];
    y[i] = sum;
}
