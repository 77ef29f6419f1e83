/*
 * cooperative_groups.h: the groups of CUDA's cooperative groups that a kernel of one launch uses
 * (the block, tiles of it, the lanes that are active), for clang without NVIDIA's toolkit, and for
 * NVRTC. nvcc has its own; NVRTC's would need headers that are not beside it.
 * <cooperative_groups/reduce.h> is here too. Not here: grid and cluster groups, and memcpy_async.
 */
#if defined(__NVCC__) || defined(__CLANG_CUDA_RUNTIME_WRAPPER_H__)
#include_next <cooperative_groups.h>
#elif !defined(LOCKSTEP_KERNELS_COOPERATIVE_GROUPS_H)
#define LOCKSTEP_KERNELS_COOPERATIVE_GROUPS_H

#define LK_GROUP __device__ __forceinline__

namespace cooperative_groups
{

struct thread_block {
    static LK_GROUP unsigned thread_rank()
    {
        return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    }
    static LK_GROUP unsigned size()
    {
        return blockDim.x * blockDim.y * blockDim.z;
    }
    static LK_GROUP unsigned num_threads()
    {
        return size();
    }
    static LK_GROUP dim3 thread_index()
    {
        return dim3(threadIdx.x, threadIdx.y, threadIdx.z);
    }
    static LK_GROUP dim3 group_index()
    {
        return dim3(blockIdx.x, blockIdx.y, blockIdx.z);
    }
    static LK_GROUP dim3 dim_threads()
    {
        return dim3(blockDim.x, blockDim.y, blockDim.z);
    }
    static LK_GROUP dim3 group_dim()
    {
        return dim_threads();
    }
    static LK_GROUP void sync()
    {
        __syncthreads();
    }
};
LK_GROUP thread_block this_thread_block()
{
    return thread_block();
}

/* Lanes of a warp that vote and exchange numbers: those of `mask`, of which a thread is one. */
struct lk_lanes {
    unsigned mask;
    LK_GROUP void sync() const
    {
        __syncwarp(mask);
    }
    LK_GROUP int any(int is) const
    {
        return __any_sync(mask, is);
    }
    LK_GROUP int all(int is) const
    {
        return __all_sync(mask, is);
    }
};

template <unsigned SIZE, typename PARENT = thread_block> struct thread_block_tile : lk_lanes {
    static_assert(SIZE > 0 && SIZE <= 32 && (SIZE & (SIZE - 1)) == 0,
                  "a tile has 1, 2, 4, 8, 16 or 32 threads");
    static LK_GROUP unsigned thread_rank()
    {
        return thread_block::thread_rank() % SIZE;
    }
    static LK_GROUP unsigned size()
    {
        return SIZE;
    }
    static LK_GROUP unsigned num_threads()
    {
        return SIZE;
    }
    static LK_GROUP unsigned meta_group_rank()
    {
        return thread_block::thread_rank() / SIZE;
    }
    static LK_GROUP unsigned meta_group_size()
    {
        return (thread_block::size() + SIZE - 1) / SIZE;
    }
    template <typename T> LK_GROUP T shfl(T x, int from) const
    {
        return __shfl_sync(mask, x, from, SIZE);
    }
    template <typename T> LK_GROUP T shfl_down(T x, unsigned step) const
    {
        return __shfl_down_sync(mask, x, step, SIZE);
    }
    template <typename T> LK_GROUP T shfl_up(T x, unsigned step) const
    {
        return __shfl_up_sync(mask, x, step, SIZE);
    }
    template <typename T> LK_GROUP T shfl_xor(T x, unsigned with) const
    {
        return __shfl_xor_sync(mask, x, with, SIZE);
    }
    LK_GROUP unsigned ballot(int is) const
    {
        return (__ballot_sync(mask, is) & mask) >> first();
    }
    LK_GROUP unsigned first() const
    {
        return thread_block::thread_rank() % 32 / SIZE * SIZE;
    }
};

template <unsigned SIZE, typename PARENT>
LK_GROUP thread_block_tile<SIZE, PARENT> tiled_partition(const PARENT &parent)
{
    thread_block_tile<SIZE, PARENT> tile;
    unsigned lanes = SIZE == 32 ? 0xffffffffu : (1u << SIZE % 32) - 1;
    tile.mask = lanes << tile.first();
    return tile;
}

/* The lanes that are here; thread_rank counts through them. */
struct coalesced_group : lk_lanes {
    LK_GROUP unsigned thread_rank() const
    {
        unsigned below;
        asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
        return (unsigned)__popc(mask & below);
    }
    LK_GROUP unsigned size() const
    {
        return (unsigned)__popc(mask);
    }
    LK_GROUP unsigned num_threads() const
    {
        return size();
    }
    template <typename T> LK_GROUP T shfl(T x, int from) const
    {
        unsigned rest = mask; /* the lane of rank `from` */
        for (int i = 0; i < from; i++)
            rest &= rest - 1;
        return __shfl_sync(mask, x, __ffs((int)rest) - 1);
    }
};
LK_GROUP coalesced_group coalesced_threads()
{
    coalesced_group group;
    group.mask = __activemask();
    return group;
}

template <typename GROUP> LK_GROUP void sync(const GROUP &group)
{
    group.sync();
}

/* reduce.h -------------------------------------------------------------------------------------*/

#define LK_OPERATION(name, result)                                                                 \
    template <typename T> struct name {                                                            \
        LK_GROUP T operator()(T a, T b) const                                                      \
        {                                                                                          \
            return result;                                                                         \
        }                                                                                          \
    };
LK_OPERATION(plus, a + b)
LK_OPERATION(less, b < a ? b : a)
LK_OPERATION(greater, a < b ? b : a)
LK_OPERATION(bit_and, a &b)
LK_OPERATION(bit_or, a | b)
LK_OPERATION(bit_xor, a ^ b)
#undef LK_OPERATION

/* Every thread of the tile gets the result. */
template <unsigned SIZE, typename PARENT, typename T, typename OPERATION>
LK_GROUP T reduce(const thread_block_tile<SIZE, PARENT> &tile, T value, OPERATION &&operation)
{
    for (unsigned step = SIZE / 2; step > 0; step /= 2)
        value = operation(value, tile.shfl_xor(value, step));
    return value;
}

} // namespace cooperative_groups

#undef LK_GROUP
#endif
