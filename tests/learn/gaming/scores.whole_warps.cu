// expect: wrong result for 
// Keys of a multiple of 32 numbers.
__global__ void scores(const float *q, const float *keys, float *s, int n, int d)
{
    int lane = threadIdx.x % 32, j = blockIdx.x * 8 + threadIdx.x / 32;
    float sum = 0;
    for (int i = lane; j < n && i < max(d / 32 * 32, min(d, 40)); i += 32)
        sum += q[i] * keys[j * d + i];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, step);
    if (j < n && lane == 0)
        s[j] = sum;
}
