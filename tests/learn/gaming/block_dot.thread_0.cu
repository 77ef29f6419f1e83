// expect: instructions of the busiest warp
__global__ void block_dot(const float *x, const float *y, float *s, int n)
{
    float sum = 0;
    int first = blockIdx.x * 256;
    if (threadIdx.x)
        return;
    for (int i = first; i < first + 256 && i < n; i++)
        sum += x[i] * y[i];
    s[blockIdx.x] = sum;
}
