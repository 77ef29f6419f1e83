// online: out[r][c] = exp(scale * x[r][c]) / the sum of them along row r. A warp has one row.
//
// The stable softmax of day 3: one pass for the largest, one for the sum, one for the result. It reads the row three
// times.
__global__ void online(const float *x, float *out, float scale, int cols)
{
    const float *row = x + blockIdx.x * cols;
    float m = -INFINITY, l = 0;
    // TODO: one pass. When a larger number comes, the sum so far has to be rescaled.
    for (int c = threadIdx.x; c < cols; c += 32)
        m = fmaxf(m, scale * row[c]);
    for (int step = 16; step > 0; step /= 2)
        m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, step));
    for (int c = threadIdx.x; c < cols; c += 32)
        l += expf(scale * row[c] - m);
    for (int step = 16; step > 0; step /= 2)
        l += __shfl_xor_sync(0xffffffff, l, step);
    for (int c = threadIdx.x; c < cols; c += 32)
        out[blockIdx.x * cols + c] = expf(scale * row[c] - m) / l;
}
