/*
 * bulk.cu: one query a head against the quantised cache, as decode.h has it, with keys and values brought
 * to shared memory by bulk copies: 16 keys of a page lie side by side, so that three copies, started by
 * one thread, bring all of them, and STAGES times 16 keys are on their way to each warp without a
 * register being held for them. Warps do not wait for each other.
 */
// arch: sm_90
#include "bulk.h"
#include "decode.h"

#define WARPS 8
#define STAGES 4 // tune: 3 4

/* 16 keys and their values. */
template <int D> struct group_of_keys {
    unsigned char k[16 * D], v[8 * D], scales[D];
};

/* Row r of an operand is key r / 8 * 8 + r % 2 * 4 + r % 8 / 2: then the keys of a lane's four columns of
 * V^T lie side by side with its neighbours', in different banks. */
template <int D> struct StagedCache : QuantisedCache<D> {
    typedef QuantisedCache<D> Base;
    static __device__ __forceinline__ int key_of(int row)
    {
        return row / 8 * 8 + row % 2 * 4 + row % 8 / 2;
    }
    __device__ __forceinline__ void load_staged(const group_of_keys<D> *from)
    {
        int line = threadIdx.x % 32 / 4, column = threadIdx.x % 4;
#pragma unroll
        for (int half = 0; half < 2; half++)
#pragma unroll
            for (int i = 0; i < Base::WORDS / 4; i++) {
                uint4 x = ((const uint4 *)(from->k + key_of(line + 8 * half) * D))[column + 4 * i];
                this->k[half][4 * i] = x.x, this->k[half][4 * i + 1] = x.y;
                this->k[half][4 * i + 2] = x.z, this->k[half][4 * i + 3] = x.w;
            }
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const unsigned *at = (const unsigned *)(from->v + (4 * i + column) * (D / 2)) + line * (D / 64);
            if constexpr (D == 128) {
                uint2 x = *(const uint2 *)at;
                this->v[i][0] = x.x, this->v[i][1] = x.y;
            } else {
                this->v[i][0] = *at;
            }
            this->scale[i] = from->scales[(4 * i + column) * (D / 16) + line * D / 128];
        }
    }
    __device__ __forceinline__ void limit(int count)
    {
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (4 * i + (int)(threadIdx.x % 4) >= count)
                this->scale[i] = 0;
    }
};

/* Starts the copies of 16 keys; one thread. */
template <int D>
static __device__ __forceinline__ void fetch(const cache &c, long long row, group_of_keys<D> *to, barrier *b)
{
    barrier_arrive_expecting(b, sizeof *to);
    bulk_load(to->k, c.k + row * D, sizeof to->k, b);
    bulk_load(to->v, c.v + row * (D / 2), sizeof to->v, b);
    bulk_load(to->scales, c.v_scales + row * (D / 16), sizeof to->scales, b);
}

template <int D, class T>
static __device__ __forceinline__ void decode_staged(const T *q, T *o, const cache &c, float softmax_scale,
                                                     unsigned parts, unsigned char *shared)
{
    part_of_keys p = part_of_block(c, parts);
    int warp = (int)threadIdx.x / 32, group = p.group + warp, stage = 0, parity = 0;
    group_of_keys<D> *ring = (group_of_keys<D> *)shared + warp * STAGES;
    barrier *all_barriers = (barrier *)(shared + WARPS * STAGES * sizeof(group_of_keys<D>));
    barrier *full = all_barriers + warp * STAGES;
    bool chosen = elect_one();
    if (threadIdx.x < WARPS * STAGES)
        barrier_make(&all_barriers[threadIdx.x], 1);
    barrier_made();
    __syncthreads();
#pragma unroll
    for (int i = 0; i < STAGES; i++)
        if (chosen && group + i * WARPS < p.end)
            fetch<D>(c, row_of(c, p.sequence, p.head, 16 * (group + i * WARPS)), &ring[i], &full[i]);
    unsigned operands[D / 16][2];
    state<D> s = {};
    s.most[0] = s.most[1] = -INFINITY;
    load_queries<D, StagedCache<D>>(q + p.first * D, p.queries, operands);
    float scale = softmax_scale * LOG2_E * StagedCache<D>::k_scale(c, p.head);
    /* Where the next copies come from is looked up one turn before they start. */
    int ahead = group + STAGES * WARPS;
    long long row = ahead < p.end ? row_of(c, p.sequence, p.head, 16 * ahead) : 0;
#pragma unroll 1
    for (; group < p.end; group += WARPS) {
        StagedCache<D> now;
        barrier_wait(&full[stage], parity);
        now.load_staged(&ring[stage]);
        __syncwarp(); // all lanes have theirs
        if (chosen && ahead < p.end)
            fetch<D>(c, row, &ring[stage], &full[stage]);
        ahead += WARPS;
        if (ahead < p.end)
            row = row_of(c, p.sequence, p.head, 16 * ahead);
        stage = stage + 1 == STAGES ? 0 : stage + 1;
        parity ^= stage == 0;
        if (p.length - 16 * group < 16)
            now.limit(p.length - 16 * group);
        add_keys(s, now, operands, scale, p.length - 16 * group);
    }
    __syncthreads(); // the rings' place is used again
    found<D> *of_warp = (found<D> *)shared;
    finish_decode<D, WARPS>(s, o + p.first * D, p, StagedCache<D>::v_scale(c, p.head), of_warp,
                            of_warp + WARPS);
}

#define STAGED_KERNEL(name, D, T)                                                                  \
    extern "C" __global__ void __launch_bounds__(32 * WARPS, 2)                                    \
        name(const T *q, T *o, CACHE_PARAMETERS, float softmax_scale, unsigned parts)              \
    {                                                                                              \
        extern __shared__ __align__(128) unsigned char shared[]; /* rings, then their barriers */  \
        decode_staged<D>(q, o, CACHE_ARGUMENTS, softmax_scale, parts, shared);                     \
    }
STAGED_KERNEL(attend_fp8_nvfp4_64_bf16, 64, bf16)
STAGED_KERNEL(attend_fp8_nvfp4_64_f16, 64, f16)
STAGED_KERNEL(attend_fp8_nvfp4_128_bf16, 128, bf16)
STAGED_KERNEL(attend_fp8_nvfp4_128_f16, 128, f16)
