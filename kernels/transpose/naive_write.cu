/*
 * naive_write.cu: the other way round: a warp writes 32 neighbours of the result and gathers them
 * from 32 rows. That is as many sectors, but a read that fetches too much leaves the rest in a
 * cache, where it may be found later; a write of 4 bytes stays a write of 4 bytes.
 */
// arch: sm_75
#define BLOCK 256 // tune: 128 256 512 1024
#define TILE 32

extern "C" __global__ void __launch_bounds__(BLOCK)
transpose(const float *in, float *out, long long rows, long long cols)
{
    unsigned across = (cols + TILE - 1) / TILE;
    long long row = (long long)(blockIdx.x / across) * TILE + threadIdx.x % TILE;
    long long col0 = blockIdx.x % across * TILE;
    for (unsigned x = threadIdx.x / TILE; x < TILE; x += BLOCK / TILE)
        if (row < rows && col0 + x < cols)
            out[(col0 + x) * rows + row] = in[row * cols + col0 + x];
}
