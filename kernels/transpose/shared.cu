/*
 * shared.cu: a tile goes through shared memory: it is read by rows and written by columns, so
 * global memory sees whole rows of 128 bytes both times. But a column of the tile lies in one bank,
 * its 32 words being 32 words apart: reading it takes 32 turns.
 */
// arch: sm_75
#define BLOCK 256 // tune: 128 256 512 1024
#define TILE 32

extern "C" __global__ void __launch_bounds__(BLOCK)
transpose(const float *in, float *out, long long rows, long long cols)
{
    unsigned across = (cols + TILE - 1) / TILE;
    unsigned x = threadIdx.x % TILE, y0 = threadIdx.x / TILE;
    __shared__ float tile[TILE][TILE];
    long long row0 = blockIdx.x / across * (long long)TILE, col0 = blockIdx.x % across * TILE;
    for (unsigned y = y0; y < y0 + TILE; y += BLOCK / TILE)
        if (row0 + y < rows && col0 + x < cols)
            tile[y][x] = in[(row0 + y) * cols + col0 + x];
    __syncthreads();
    for (unsigned y = y0; y < y0 + TILE; y += BLOCK / TILE)
        if (row0 + x < rows && col0 + y < cols)
            out[(col0 + y) * rows + row0 + x] = tile[x][y];
}
