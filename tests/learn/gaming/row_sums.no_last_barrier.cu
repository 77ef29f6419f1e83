// expect: race between threads of a warp
// The next tile is written while lanes still read this one.
__global__ void row_sums(const float *in, float *sums, int rows, int cols)
{
    __shared__ float tile[32][33];
    int lane = threadIdx.x, top = blockIdx.x * 32;
    float sum = 0;
    for (int left = 0; left < cols; left += 32) {
        for (int r = 0; r < 32; r++)
            tile[r][lane] = top + r < rows && left + lane < cols ? in[(top + r) * cols + left + lane] : 0;
        __syncthreads();
#pragma unroll 1 // one word at a time, so that the banks are easy to follow
        for (int c = 0; c < 32; c++)
            sum += tile[lane][c];
    }
    if (top + lane < rows)
        sums[top + lane] = sum;
}
