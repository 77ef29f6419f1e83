/*
 * swizzled.cu: no padding: in row y, the word of column x lies at x ^ y. A row is still a
 * permutation of the 32 banks, and now so is a column. The tile stays a power of two, which 16-byte
 * accesses and bulk copies need.
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
            tile[y][x ^ y] = in[(row0 + y) * cols + col0 + x];
    __syncthreads();
    for (unsigned y = y0; y < y0 + TILE; y += BLOCK / TILE)
        if (row0 + x < rows && col0 + y < cols)
            out[(col0 + y) * rows + row0 + x] = tile[x][y ^ x];
}
