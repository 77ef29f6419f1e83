/*
 * stages.cu: one read and one write. A cluster of blocks takes one row after the other, each block
 * a part of the vocabulary. Bulk copies fetch the next row into shared memory while this one is in
 * registers, and the blocks send each other what they know of it through distributed shared memory
 * (turns.h). The largest logit is found per warp, so that one barrier is enough. 256 K logits of 16
 * bits are read once. Buffers that do not begin at multiples of 16 bytes are left to online.
 */
// arch: sm_90
#include "entropy.h"
#include "turns.h"

#define VECTORS 8 // tune: 4 8
#define STAGES 2 // tune: 2 3
#define THREADS 256 // tune: 128 256 512; more where 8 blocks of them do not hold a row

/* The columns of this block, in vectors. */
struct part_of_row {
    unsigned first, count, room; // room: of a stage, what the block with most has
};
template <class T> static __device__ __forceinline__ part_of_row part_of(long long cols)
{
    unsigned vectors = cols / PER<T>, blocks = cluster_size();
    unsigned room = (vectors + blocks - 1) / blocks, first = cluster_rank() * room;
    return part_of_row{first, first >= vectors ? 0 : min(room, vectors - first), room};
}

template <class T>
static __device__ __forceinline__ void fetch(uint4 *stage, part_of_row p, const T *row,
                                             barrier *full)
{
    barrier_arrive_expecting(full, p.count * 16);
    if (p.count)
        bulk_load(stage, row + (long long)p.first * PER<T>, p.count * 16, full);
}

/* What a warp holds. */
template <class T, int V>
static __device__ __forceinline__ known measure(const uint4 (&v)[V], unsigned count)
{
    known k = known_nothing();
    float x[PER<T>];
#pragma unroll
    for (int i = 0; i < V; i++) {
        if (threadIdx.x + i * blockDim.x >= count)
            continue;
        widen_all<T>(v[i], x);
#pragma unroll
        for (int j = 0; j < PER<T>; j++)
            k.most = fmaxf(k.most, x[j]);
    }
    k.most = max_lanes(k.most, 32);
    float zero = base(k.most);
#pragma unroll
    for (int i = 0; i < V; i++) {
        if (threadIdx.x + i * blockDim.x >= count)
            continue;
        widen_all<T>(v[i], x);
#pragma unroll
        for (int j = 0; j < PER<T>; j++) {
            k.sum += power_of_two((x[j] - zero) * LOG2_E);
            k.total += x[j];
        }
    }
    return known{k.most, sum_lanes(k.sum, 32), sum_lanes(k.total, 32)};
}

template <class T, int V> static __device__ __forceinline__ void entropy_stages(entropy_job<T> a)
{
    extern __shared__ uint4 stages[]; // [STAGES][room]
    __shared__ barrier full[STAGES];
    __shared__ known of_warp[2][32];
    __shared__ turns<float4> of_blocks;
    part_of_row p = part_of<T>(a.cols);
    unsigned clusters = gridDim.x / cluster_size(), turn = 0, lane = threadIdx.x % 32;
    long long begin = blockIdx.x / cluster_size();
    bool fetches = threadIdx.x < 32 && elect_one();
    if (fetches) {
        for (int k = 0; k < STAGES; k++)
            barrier_make(&full[k], 1);
        barrier_made();
        for (int k = 0; k < STAGES && begin + k * (long long)clusters < a.rows; k++)
            fetch(stages + k * p.room, p, a.logits + (begin + k * (long long)clusters) * a.cols,
                  &full[k]);
    }
    turns_begin(&of_blocks);
    __syncthreads();
    turns_wait();
    float share = *a.share;
    long long ahead = a.labels[begin]; // begin is a row: clusters <= rows
    unsigned stage = 0, parity = 0;
    for (long long row = begin; row < a.rows; row += clusters, turn++) {
        uint4 *here = stages + stage * p.room, v[V];
        long long label = ahead, next = row + STAGES * (long long)clusters;
        if (row + clusters < a.rows)
            ahead = a.labels[row + clusters];
        barrier_wait(&full[stage], parity);
#pragma unroll
        for (int k = 0; k < V; k++) {
            unsigned at = threadIdx.x + k * blockDim.x;
            v[k] = at < p.count ? here[at] : make_uint4(0, 0, 0, 0);
        }
        known k = merge_warps(measure<T, V>(v, p.count), of_warp[turn % 2]);
        if (fetches && next < a.rows) // every thread has its part of the stage
            fetch(here, p, a.logits + next * a.cols, &full[stage]);
        if (cluster_size() > 1) {
            float4 other = take_turn(&of_blocks, turn, make_float4(k.most, k.sum, k.total, 0));
            k = merge_lanes(lane < cluster_size() ? known{other.x, other.y, other.z}
                                                  : known_nothing());
        }
        outcome o = outcome_of(a, label, k, share);
        if (threadIdx.x == 0 && cluster_rank() == 0)
            write_other_loss(a, row, o);
#pragma unroll
        for (int i = 0; i < V; i++) {
            unsigned at = threadIdx.x + i * blockDim.x;
            if (at < p.count)
                write_vector(a, row, (long long)(p.first + at) * PER<T>, v[i], o);
        }
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
}

#define KERNELS(type, T)                                                                           \
    extern "C" __global__ void __launch_bounds__(512) stages_##type(ENTROPY_ARGUMENTS(T))          \
    {                                                                                              \
        entropy_stages<T, VECTORS>(ENTROPY(T));                                                    \
    }                                                                                              \
    ENTROPY_ONLINE(type, T)
KERNELS(bf16, bf16)
KERNELS(f16, f16)
KERNELS(f32, float)
ENTROPY_ENDS
