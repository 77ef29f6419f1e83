// no shared memory: a row at a time, by shuffles
__global__ void row_sums(const float *in, float *sums, int rows, int cols)
{
    int lane = threadIdx.x, top = blockIdx.x * 32;
    float mine = 0;
    for (int r = 0; r < 32 && top + r < rows; r++) {
        float sum = 0;
        for (int c = lane; c < cols; c += 32)
            sum += in[(top + r) * cols + c];
        for (int o = 16; o; o >>= 1)
            sum += __shfl_xor_sync(~0u, sum, o);
        if (lane == r)
            mine = sum;
    }
    if (top + lane < rows)
        sums[top + lane] = mine;
}
