// matvec: a loop that steps by the grid, though one turn is enough; x through __ldg, fmaf.
__global__ void matvec(const float *__restrict__ a, const float *__restrict__ x, float *__restrict__ y, int m, int k)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < m; i += gridDim.x * blockDim.x) {
        float sum = 0.0f;
        const float *row = a + (size_t)i * k;
        for (int p = 0; p < k; ++p)
            sum = fmaf(__ldg(row + p), __ldg(x + p), sum);
        y[i] = sum;
    }
}
