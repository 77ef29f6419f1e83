// row_sums: sums[r] = the sum of row r of a matrix with rows x cols elements.
//
// A block is one warp and has 32 rows, one for each lane. It takes 32 columns at a time: reads them along the
// rows into a tile, and then lane l adds up row l of the tile. Everything is right and coalesced. But look at
// the banks of the second loop.
__global__ void row_sums(const float *in, float *sums, int rows, int cols)
{
    __shared__ float tile[32][32]; // TODO: in which bank does each row begin?
    int lane = threadIdx.x, top = blockIdx.x * 32;
    float sum = 0;
    for (int left = 0; left < cols; left += 32) {
        for (int r = 0; r < 32; r++)
            tile[r][lane] = top + r < rows && left + lane < cols ? in[(top + r) * cols + left + lane] : 0;
        __syncthreads();
#pragma unroll 1 // one word at a time, so that the banks are easy to follow
        for (int c = 0; c < 32; c++)
            sum += tile[lane][c];
        __syncthreads();
    }
    if (top + lane < rows)
        sums[top + lane] = sum;
}
