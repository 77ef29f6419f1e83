// expect: bank conflicts: 1792 extra passes
// turn16: out[c][r] = in[r][c] through a tile of 16 x 16. Rows of 17, so that a column of the tile
// lies in different banks.
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
    if (r < rows && c < cols) {
        float f;
        asm volatile("ld.f32 %0, [%1];"
                     : "=f"(f)
                     : "l"(&tile[threadIdx.x][threadIdx.y])
                     : "memory");
        out[c * rows + r] = f;
    }
}
