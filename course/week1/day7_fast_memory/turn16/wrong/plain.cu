// Right without a tile, and the lanes of a warp write into 16 rows.
__global__ void turn16(const float *in, float *out, int rows, int cols)
{
    int c = blockIdx.x * 16 + threadIdx.x;
    int r = blockIdx.y * 16 + threadIdx.y;
    if (r < rows && c < cols)
        out[c * rows + r] = in[r * cols + c];
}
