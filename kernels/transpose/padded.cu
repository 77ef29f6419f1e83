/*
 * padded.cu: one extra word in each row of the tile. The words of a column are now 33 apart and
 * lie in 32 different banks.
 */
// arch: sm_75
#define BLOCK 256 // tune: 128 256 512 1024
#define TILE 32

extern "C" __global__ void __launch_bounds__(BLOCK)
transpose(const float *in, float *out, long long rows, long long cols)
{
    unsigned across = (cols + TILE - 1) / TILE;
    unsigned x = threadIdx.x % TILE, y0 = threadIdx.x / TILE;
    __shared__ float tile[TILE][TILE + 1];
    long long row0 = blockIdx.x / across * (long long)TILE, col0 = blockIdx.x % across * TILE;
    for (unsigned y = y0; y < y0 + TILE; y += BLOCK / TILE)
        if (row0 + y < rows && col0 + x < cols)
            tile[y][x] = in[(row0 + y) * cols + col0 + x];
    __syncthreads();
    for (unsigned y = y0; y < y0 + TILE; y += BLOCK / TILE)
        if (row0 + x < rows && col0 + y < cols)
            out[(col0 + y) * rows + row0 + x] = tile[x][y];
}
