// Begins with 256: adds what lies beyond the array.
__global__ void block_sums(const float *x, float *y)
{
    __shared__ float part[256];
    int t = threadIdx.x;
    part[t] = x[blockIdx.x * 256 + t];
    __syncthreads();
    for (int half = 256; half > 0; half /= 2) {
        if (t < half)
            part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0)
        y[blockIdx.x] = part[0];
}
