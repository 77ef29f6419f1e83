// expect: busiest warp
// row_walk: half of the blocks do nothing, the other half two elements each
__global__ void row_walk(const float *in, float *out, int rows, int cols)
{
    int half = (gridDim.x + 1) / 2, n = rows * cols;
    if (blockIdx.x >= half)
        return;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += half * 256)
        out[i] = 2 * in[i];
}
