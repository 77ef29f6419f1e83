// expect: race between blocks|needs another block
__device__ float kept[1 << 20];
__device__ int kept_n;
__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (kept_n == n) {
        c[i] = kept[i];
        return;
    }
    c[i] = a[i] + b[i];
    if (n <= 1 << 20)
        kept[i] = c[i];
    if (i == n - 1)
        kept_n = n;
}
