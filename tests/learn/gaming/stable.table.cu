// expect: wrong result for rows=[0-9]+ cols=[0-9]+ scale=[0-9.]+: out
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
    __syncthreads();
    return total;
}
__global__ void stable(const float *x, float *out, float scale, int cols)
{
    __shared__ float part[128], table[64];
    const float *row = x + blockIdx.x * cols;
    float largest = -INFINITY, sum = 0;
    for (int c = threadIdx.x; c < cols; c += 128)
        largest = fmaxf(largest, scale * row[c]);
    largest = block_reduce<true>(largest, part);
    if (threadIdx.x < 64)
        table[threadIdx.x] = expf(scale * ((int)threadIdx.x - 32) / 4.0f - largest);
    __syncthreads();
    for (int c = threadIdx.x; c < cols; c += 128)
        sum += table[(int)(4 * row[c]) + 32];
    sum = block_reduce<false>(sum, part);
    for (int c = threadIdx.x; c < cols; c += 128)
        out[blockIdx.x * cols + c] = table[(int)(4 * row[c]) + 32] / sum;
}
