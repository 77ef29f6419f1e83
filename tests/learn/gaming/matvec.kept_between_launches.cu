// expect: race between warps of a block|race between blocks
// matvec: x waits in a __device__ variable from the launch before
__device__ float kept[4096];
__device__ int have;
__global__ void matvec(const float *a, const float *x, float *y, int m, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0)
        for (int p = 0; p < k; p++)
            kept[p] = x[p];
    if (i < m) {
        float sum = 0;
        for (int p = 0; p < k; p++)
            sum += a[i * k + p] * kept[p];
        y[i] = sum;
    }
}
