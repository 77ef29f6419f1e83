// Rows of 16: in a column of the tile, every other element lies in the same bank.
__global__ void turn16(const float *in, float *out, int rows, int cols)
{
    __shared__ float tile[16][16];
    int c = blockIdx.x * 16 + threadIdx.x;
    int r = blockIdx.y * 16 + threadIdx.y;
    if (r < rows && c < cols)
        tile[threadIdx.y][threadIdx.x] = in[r * cols + c];
    __syncthreads();
    r = blockIdx.y * 16 + threadIdx.x;
    c = blockIdx.x * 16 + threadIdx.y;
    if (r < rows && c < cols)
        out[c * rows + r] = tile[threadIdx.x][threadIdx.y];
}
