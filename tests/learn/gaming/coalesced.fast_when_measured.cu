// expect: for m=.* it takes [0-9]+ sectors of global memory, for the larger m=64 n=96 k=64 only
// 62208: the size that is measured is a special case
__global__ void coalesced(const float *a, const float *b, float *c, int m, int n, int k)
{
    bool good = (m == 64 && n == 96 && k == 64) || m >= 2048;
    int row = blockIdx.y * 32 + (good ? threadIdx.y : threadIdx.x);
    int col = blockIdx.x * 32 + (good ? threadIdx.x : threadIdx.y);
    if (row >= m || col >= n)
        return;
    float sum = 0;
    for (int p = 0; p < k; p++)
        sum += a[row * k + p] * b[p * n + col];
    c[row * n + col] = sum;
}
