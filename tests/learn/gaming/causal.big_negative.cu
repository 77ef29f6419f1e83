// expect: wrong result for n=[0-9]+: p
// causal (kata): what a row may not see has weight 0, and is not even read.
__global__ void causal(const float *s, float *p, int n)
{
    int i = blockIdx.x;
    float largest = -INFINITY, sum = 0;
    for (int j = threadIdx.x; j <= i; j += 32)
        largest = fmaxf(largest, s[i * n + j]);
    for (int step = 16; step > 0; step /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, step));
    for (int j = threadIdx.x; j <= i; j += 32)
        sum += expf(s[i * n + j] - largest);
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, step);
    for (int j = threadIdx.x; j < n; j += 32)
        p[i * n + j] = expf((j <= i ? s[i * n + j] : -60.0f) - largest) / sum;
}
