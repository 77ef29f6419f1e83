/*
 * cluster.cu: the blocks that share a sequence are a cluster, and read each other's results where
 * they lie, in distributed shared memory: no second kernel, nothing in memory but the output. Each
 * block puts together its own columns. A cluster has at most eight blocks, so that split.cu has
 * more of them for very long sequences.
 */
// arch: sm_90
#include "stream.h"
#include "tma.h"

/* What lies at the same place in another block of the cluster. */
static __device__ __forceinline__ float load_from_block(const float *at, unsigned rank)
{
    float x;
    asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %1, %2; "
                 "ld.shared::cluster.f32 %0, [there]; }"
                 : "=f"(x)
                 : "r"(shared_address(at)), "r"(rank)
                 : "memory");
    return x;
}

template <class type, int DIM>
static __device__ __forceinline__ void attend(const decode_arguments &g)
{
    typedef stream<type, DIM> keys;
    __shared__ found<DIM> f;
    __shared__ float out[DIM], sums[2];
    decode_row r = row_numbered(g, blockIdx.x / g.parts);
    int rank = cluster_rank();
    int each = (r.keys + g.parts - 1) / g.parts, first = min(rank * each, r.keys);
    keys::walk(g, r, first, min(first + each, r.keys), f);
    float mine = keys::largest_of(f), most = lowest(), sum = 0;
    for (int i = threadIdx.x; i < DIM; i += THREADS)
        out[i] = keys::out_of(f, mine, i);
    if (threadIdx.x == 0) {
        sums[0] = mine;
        sums[1] = keys::sum_of(f, mine);
    }
    cluster_sync();
    for (int i = 0; i < g.parts; i++)
        most = fmaxf(most, load_from_block(&sums[0], i));
    for (int i = 0; i < g.parts; i++)
        sum = fmaf(load_from_block(&sums[1], i), shrink_to(load_from_block(&sums[0], i), most), sum);
    for (int column = rank * THREADS + threadIdx.x; column < DIM; column += g.parts * THREADS) {
        float all = 0;
        for (int i = 0; i < g.parts; i++)
            all = fmaf(load_from_block(&out[column], i),
                       shrink_to(load_from_block(&sums[0], i), most), all);
        type::store(g.o, r.q + column, sum == 0 ? 0 : all / sum);
    }
    if (rank == 0 && threadIdx.x == 0 && g.lse)
        ((float *)g.lse)[r.lse] = lse_of(most, sum);
    cluster_sync(); /* others may still read this block's shared memory */
}

#define DECODE(type, dim)                                                                          \
    extern "C" __global__ void __launch_bounds__(THREADS)                                          \
        decode_##type##_##dim(const __grid_constant__ decode_arguments g)                          \
    {                                                                                              \
        attend<type, dim>(g);                                                                      \
    }
#define DECODES(type)                                                                              \
    DECODE(type, 64)                                                                               \
    DECODE(type, 96)                                                                               \
    DECODE(type, 128)                                                                              \
    DECODE(type, 256)
DECODES(bf16)
DECODES(f16)
