/*
 * naive.cu: each thread moves its elements straight to their places. A warp reads 32 neighbours of
 * a row, 128 bytes in one request, and writes them to 32 rows of the result: 32 sectors of 32
 * bytes, with 4 bytes used of each.
 */
// arch: sm_75
#define BLOCK 256 // tune: 128 256 512 1024
#define TILE 32

extern "C" __global__ void __launch_bounds__(BLOCK)
transpose(const float *in, float *out, long long rows, long long cols)
{
    unsigned across = (cols + TILE - 1) / TILE;
    long long row0 = (long long)(blockIdx.x / across) * TILE;
    long long col = blockIdx.x % across * TILE + threadIdx.x % TILE;
    for (unsigned y = threadIdx.x / TILE; y < TILE; y += BLOCK / TILE)
        if (row0 + y < rows && col < cols)
            out[col * rows + row0 + y] = in[(row0 + y) * cols + col];
}
