// row_largest: begins with the row's first number, maximum by hand.
__global__ void row_largest(const float *x, float *out, int cols)
{
    const float *row = x + (size_t)blockIdx.x * cols;
    float most = threadIdx.x < cols ? row[threadIdx.x] : -INFINITY;
    for (int c = threadIdx.x + 32; c < cols; c += 32)
        most = row[c] > most ? row[c] : most;
    for (int o = 16; o; o >>= 1) {
        float other = __shfl_down_sync(~0u, most, o);
        most = other > most ? other : most;
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = most;
}
