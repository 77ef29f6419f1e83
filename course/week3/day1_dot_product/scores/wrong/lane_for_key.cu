// A lane for each key: all 32 walk along rows of their own.
__global__ void scores(const float *q, const float *keys, float *s, int n, int d)
{
    int j = blockIdx.x * 8 + threadIdx.x;
    float sum = 0;
    if (threadIdx.x >= 8 || j >= n)
        return;
    for (int i = 0; i < d; i++)
        sum += q[i] * keys[j * d + i];
    s[j] = sum;
}
