// accumulate: c = a * b again, and right. But the sum grows in global memory: every step of the loop
// reads c, adds a product, and writes c back.
__global__ void accumulate(const float *a, const float *b, float *c, int m, int n, int k)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= m || j >= n)
        return;
    // TODO: a thread has registers. Let the sum grow in one, and write c once.
    c[i * n + j] = 0;
    for (int p = 0; p < k; p++)
        c[i * n + j] += a[i * k + p] * b[p * n + j];
}
