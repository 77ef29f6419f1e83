// right_tile_sync.cu: tiles of 8 and of 4 that exchange within themselves, through __syncwarp,
// shuffles and cooperative groups; then all together.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void within(const int *in, int *out)
{
    __shared__ int s[64];
    int thread = threadIdx.x, lane = thread & 31;
    unsigned mask = 0xffu << (lane & 24);
    for (int offset = 1; offset < 8; offset *= 2) {
        s[thread] = in[thread] + offset;
        __syncwarp(mask);
        int other = s[thread ^ offset];
        __syncwarp(mask);
        s[thread] = other;
    }
    int v = __shfl_xor_sync(mask, s[thread], 1); // orders the tile, too
    v += s[thread ^ 7];
    auto tile = cg::tiled_partition<4>(cg::this_thread_block());
    __syncwarp(mask);
    s[thread] = v;
    tile.sync();
    v = s[thread ^ 3];
    __syncwarp();
    s[thread] = v;
    __syncwarp();
    out[thread] = s[thread ^ 16];
}

/* Two tiles of 16 pass a value on: 0-15 with 8-23, then those with 16-31. */
__global__ void chain(const int *in, int *out)
{
    __shared__ int s[32];
    int lane = threadIdx.x;
    if (lane < 8)
        s[lane] = in[lane];
    if (lane < 16)
        __syncwarp(0xffff);
    if (lane >= 8 && lane < 24)
        __syncwarp(0xffff00);
    if (lane >= 16)
        out[lane - 16] = lane < 24 ? s[lane - 16] : 0;
}

int main()
{
    int *in, *out;
    cudaMalloc(&in, 64 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemset(in, 0, 64 * sizeof(int));
    within<<<1, 64>>>(in, out);
    chain<<<1, 32>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
