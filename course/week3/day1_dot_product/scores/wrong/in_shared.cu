// Adds up in shared memory, where registers would do.
__global__ void scores(const float *q, const float *keys, float *s, int n, int d)
{
    int lane = threadIdx.x % 32, j = blockIdx.x * 8 + threadIdx.x / 32;
    float sum = 0;
    for (int i = lane; j < n && i < d; i += 32)
        sum += q[i] * keys[j * d + i];
    __shared__ float part[256];
    part[threadIdx.x] = sum;
    for (int step = 16; step > 0; step /= 2) {
        __syncthreads();
        float other = part[threadIdx.x ^ step];
        __syncthreads();
        part[threadIdx.x] = sum = sum + other;
    }
    if (j < n && lane == 0)
        s[j] = sum;
}
