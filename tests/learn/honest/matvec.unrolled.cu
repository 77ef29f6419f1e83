__global__ void matvec(const float *__restrict__ a, const float *__restrict__ x,
                       float *__restrict__ y, int m, int k)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < m; i += gridDim.x * blockDim.x) {
        float s0 = 0, s1 = 0;
        int p = 0;
        for (; p + 1 < k; p += 2) {
            s0 += a[i * k + p] * x[p];
            s1 += a[i * k + p + 1] * x[p + 1];
        }
        if (p < k)
            s0 += a[i * k + p] * x[p];
        y[i] = s0 + s1;
    }
}
