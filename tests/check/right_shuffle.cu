// right_shuffle.cu: shuffles whose undefined or foreign values nobody uses: a reduction of half a
// warp, of which lane 0 keeps the result; scans that drop what comes from before the first lane;
// segments; lanes that clamp.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void half_warp(const int *in, int *out)
{
    int lane = threadIdx.x;
    if (lane >= 16)
        return;
    int v = in[lane];
    for (int offset = 8; offset; offset /= 2)
        v += __shfl_down_sync(0xffff, v, offset);
    if (lane == 0)
        out[0] = v;
}

__global__ void scan(const int *in, int *out)
{
    int lane = threadIdx.x, v = in[lane];
    for (int offset = 1; offset < 32; offset *= 2) {
        int before = __shfl_up_sync(~0u, v, offset);
        if (lane >= offset)
            v += before;
    }
    out[lane] = v;
}

__global__ void upper(const int *in, int *out)
{
    int lane = threadIdx.x;
    if (lane < 16)
        return;
    int v = in[lane];
    for (int offset = 1; offset < 16; offset *= 2) {
        int before = __shfl_up_sync(0xffff0000, v, offset); // of lanes below 16: dropped
        v += lane - 16 >= offset ? before : 0;
    }
    v += __shfl_xor_sync(0xffff0000, v, 8, 16);
    out[lane] = v;
}

__global__ void groups(const int *in, int *out)
{
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int v = cg::reduce(tile, in[threadIdx.x], cg::plus<int>());
    if (threadIdx.x % 3 == 0) {
        auto some = cg::coalesced_threads();
        v += some.shfl(v, 0) + some.shfl_down(v, 1) * (some.thread_rank() + 1 < some.size());
    }
    out[threadIdx.x] = v;
}

int main()
{
    int *in, *out;
    cudaMalloc(&in, 64 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemset(in, 0, 64 * sizeof(int));
    half_warp<<<1, 32>>>(in, out);
    scan<<<1, 32>>>(in, out);
    upper<<<1, 32>>>(in, out);
    groups<<<1, 64>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
