// expect: wrong result for rows=8 cols=128: error
// worst_error (kata): there and back, and the largest difference.
#include <cuda_fp8.h>

__global__ void worst_error(const float *x, float *error, int cols)
{
    int lane = threadIdx.x;
    float most = 0;
    for (int c = lane; c < cols; c += 32) {
        float value = x[blockIdx.x * cols + c];
        most = fmaxf(most, fminf(fabsf(value - (float)__nv_fp8_e4m3(value)), 0.5f));
    }
    for (int step = 16; step > 0; step /= 2)
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, step));
    if (lane == 0)
        error[blockIdx.x] = most;
}
