// expect: f32_threads is 262144, at most 4096
#include <mma.h>
__global__ void fragments(const half *a, const half *b, float *c, int m, int n, int k)
{
    int top = blockIdx.y * 16, left = blockIdx.x * 16, lane = threadIdx.x;
    float sum[8] = {0};
    for (int p = 0; p < k; p++) {
        float y = b[p * n + left + lane % 16];
        for (int r = 0; r < 8; r++)
            sum[r] += (float)a[(top + lane / 16 * 8 + r) * k + p] * y;
    }
    for (int r = 0; r < 8; r++)
        c[(top + lane / 16 * 8 + r) * n + left + lane % 16] = sum[r];
}
