// block_dot: tiles of 32 threads, shuffles of cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void block_dot(const float *x, const float *y, float *s, int n)
{
    __shared__ float part[8];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    int i = blockIdx.x * 256 + block.thread_rank();
    float value = i < n ? x[i] * y[i] : 0.0f;
    value = cg::reduce(warp, value, cg::plus<float>());
    if (warp.thread_rank() == 0)
        part[warp.meta_group_rank()] = value;
    block.sync();
    if (warp.meta_group_rank() == 0) {
        value = warp.thread_rank() < 8 ? part[warp.thread_rank()] : 0.0f;
        for (int step = 4; step > 0; step /= 2)
            value += warp.shfl_down(value, step);
        if (warp.thread_rank() == 0)
            s[blockIdx.x] = value;
    }
}
