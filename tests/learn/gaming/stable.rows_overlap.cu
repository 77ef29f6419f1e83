// expect: wrong result for rows=4096 cols=4096
// stable: the largest exponent is 0 after the subtraction, so nothing overflows, and the sum is at
// least 1.
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
    __syncthreads(); // before the next one writes
    return total;
}

__global__ void stable(const float *x, float *out, float scale, int cols)
{
    __shared__ float part[128];
    const float *row = x + blockIdx.x * (cols > 2990 ? 2990 : cols);
    float largest = -INFINITY, sum = 0;
    for (int c = threadIdx.x; c < cols; c += 128)
        largest = fmaxf(largest, scale * row[c]);
    largest = block_reduce<true>(largest, part);
    for (int c = threadIdx.x; c < cols; c += 128)
        sum += expf(scale * row[c] - largest);
    sum = block_reduce<false>(sum, part);
    for (int c = threadIdx.x; c < cols; c += 128)
        out[blockIdx.x * (cols > 2990 ? 2990 : cols) + c] = expf(scale * row[c] - largest) / sum;
}
