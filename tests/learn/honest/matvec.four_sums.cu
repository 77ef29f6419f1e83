// matvec: four running sums, joined at the end.
__global__ void matvec(const float *__restrict__ a, const float *__restrict__ x,
                       float *__restrict__ y, int m, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m)
        return;
    const float *row = a + (size_t)i * k;
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    int p = 0;
    for (; p + 3 < k; p += 4) {
        s0 += row[p] * __ldg(x + p);
        s1 += row[p + 1] * __ldg(x + p + 1);
        s2 += row[p + 2] * __ldg(x + p + 2);
        s3 += row[p + 3] * __ldg(x + p + 3);
    }
    for (; p < k; p++)
        s0 += row[p] * x[p];
    y[i] = (s0 + s1) + (s2 + s3);
}
