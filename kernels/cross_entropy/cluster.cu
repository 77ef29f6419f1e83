/*
 * cluster.cu: one read and one write. A row goes over the blocks of a cluster, where it waits in
 * registers, a part in each block; warps find their own largest logit, so that a block needs one
 * barrier, and the blocks send each other what they know through distributed shared memory
 * (parts.h). 256 K logits of 16 bits are read once. Buffers that do not begin at multiples of 16
 * bytes are left to online.
 */
// arch: sm_90
#include "parts.h"
#include "prefetch.h"

#define VECTORS 8 // tune: 2 4 8
#define AHEAD 132 // tune: 132 264; blocks
#define THREADS 256 // tune: 256 512 1024; more where 8 blocks of them do not hold a row

/* What a later block will read: it is on its way into the L2 before that block begins. Each part of a row
 * is asked for once, whether or not AHEAD is a multiple of the cluster's size. */
template <class T>
static __device__ __forceinline__ void prefetch_part(entropy_job<T> a, part_of_row p, unsigned block)
{
    long long row = block / cluster_size();
    if (threadIdx.x == 0 && row < a.rows && p.count > 0)
        bulk_prefetch((const uint4 *)(a.logits + row * a.cols) + p.first, p.count * 16);
}

template <class T, int V> static __device__ __forceinline__ void entropy_parts(entropy_job<T> a)
{
    __shared__ known of_warp[32];
    __shared__ turns<float4> of_blocks;
    part_of_row p = part_of<T>(a.cols);
    long long row = blockIdx.x / cluster_size();
    const uint4 *from = (const uint4 *)(a.logits + row * a.cols) + p.first;
    turns_begin(&of_blocks);
    long long label = a.labels[row];
    uint4 v[V];
#pragma unroll
    for (int i = 0; i < V; i++) {
        unsigned at = threadIdx.x + i * blockDim.x;
        v[i] = at < p.count ? load_once(from + at) : filler<T>();
    }
    prefetch_part(a, p, blockIdx.x + AHEAD);
    let_next_begin(); // which waits until the losses are there
    known k = measure<T, V>(v, p.count, a.smoothing != 0);
    wait_for_kernels_before(); // which counts the rows; it leaves logits and labels alone
    float share = *(const volatile float *)a.share; // on its way while the warps meet
    k = merge_warps(k, of_warp);
    turns_wait();
    outcome o = outcome_of(a, label, merge_blocks(k, &of_blocks, 0), share);
    if (threadIdx.x == 0 && cluster_rank() == 0)
        write_other_loss(a, row, o);
    write_part<T, V>(a, row, p, v, o);
}

#define KERNELS(type, T)                                                                           \
    extern "C" __global__ void __launch_bounds__(1024) parts_##type(ENTROPY_ARGUMENTS(T))          \
    {                                                                                              \
        entropy_parts<T, VECTORS>(ENTROPY(T));                                                     \
    }                                                                                              \
    ENTROPY_ONLINE(type, T)
KERNELS(bf16, bf16)
KERNELS(f16, f16)
KERNELS(f32, float)
ENTROPY_ENDS
