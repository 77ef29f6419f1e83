// expect: wrong result for |race
// A block reads the total while the next reduction writes.
template <bool MAX> __device__ float block_reduce(float value, float *shared)
{
    int t = threadIdx.x;
    shared[t] = value;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half)
            shared[t] = MAX ? fmaxf(shared[t], shared[t + half]) : shared[t] + shared[t + half];
        __syncthreads();
    }
    float total = shared[0];
    return total;
}

__global__ void stable(const float *x, float *out, float scale, int cols)
{
    __shared__ float part[128];
    const float *row = x + blockIdx.x * cols;
    float largest = -INFINITY, sum = 0;
    for (int c = threadIdx.x; c < cols; c += 128)
        largest = fmaxf(largest, scale * row[c]);
    largest = block_reduce<true>(largest, part);
    for (int c = threadIdx.x; c < cols; c += 128)
        sum += expf(scale * row[c] - largest);
    sum = block_reduce<false>(sum, part);
    for (int c = threadIdx.x; c < cols; c += 128)
        out[blockIdx.x * cols + c] = expf(scale * row[c] - largest) / sum;
}
