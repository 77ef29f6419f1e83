// expect: wrong result for 
// The largest counts what a row may not see.
__global__ void causal(const float *s, float *p, int n)
{
    int i = blockIdx.x;
    float largest = -INFINITY, sum = 0;
    for (int j = threadIdx.x; j < n; j += 32)
        largest = fmaxf(largest, s[i * n + j]);
    for (int step = 16; step > 0; step /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, step));
    for (int j = threadIdx.x; j <= i; j += 32)
        sum += expf(s[i * n + j] - largest);
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, step);
    for (int j = threadIdx.x; j < n; j += 32)
        p[i * n + j] = j <= i ? expf(s[i * n + j] - largest) / sum : 0;
}
