// expect: wrong result for m=2048 n=2048 k=1024, whose time is modelled: c
// large: same instructions and requests, but always the same, cached, row of b
__global__ void coalesced(const float *a, const float *b, float *c, int m, int n, int k)
{
    int row = blockIdx.y * 32 + threadIdx.y;
    int col = blockIdx.x * 32 + threadIdx.x;
    if (row >= m || col >= n)
        return;
    float sum = 0;
    int step = k == 1024 && m == 2048 ? 0 : 1;
    for (int p = 0; p < k; p++)
        sum += a[row * k + p * step] * b[p * step * n + col];
    c[row * n + col] = sum;
}
