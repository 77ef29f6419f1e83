/*
 * wgmma.cu: Hopper's units. One warp asks the TMA unit for tiles of Q, K and V; two warpgroups have
 * 64 queries each and multiply with wgmma: Q and K from shared memory, and the weights from the
 * registers in which they were made. Everything of a warpgroup still happens in turn: scores, then
 * exponentials, then the product with V. The tensor cores are busy only as far as the other
 * warpgroup happens to be at a product meanwhile.
 */
// arch: sm_90a
#include "tiles.h"

template <class type, int DIM, int KEYS, bool CAPPED> struct flash : tiles<type, DIM, KEYS> {
    typedef tiles<type, DIM, KEYS> in;
    typedef typename in::stages stages;

    /* By one thread. */
    static __device__ __forceinline__ void produce(stages &m, const attention_arguments &g,
                                                   const place &p)
    {
        in::load_queries(m, g, p);
        for (int tile = p.last - 1, turn = 0; tile >= p.first; tile--, turn++) {
            int stage = turn % STAGES;
            unsigned parity = turn / STAGES % 2;
            in::load(m.k[stage], g, &g.k_map, g.k_apart, p.s, tile, &m.k_full[stage],
                     &m.k_empty[stage], parity);
            in::load(m.v[stage], g, &g.v_map, g.v_apart, p.s, tile, &m.v_full[stage],
                     &m.v_empty[stage], parity);
        }
    }

    static __device__ __forceinline__ void consume(stages &m, const attention_arguments &g,
                                                   const place &p, int group)
    {
        int warp_row = p.row + group * 64 + threadIdx.x % 128 / 32 * 16;
        int row = warp_row + threadIdx.x % 32 / 4;
        float out[DIM / 2] = {0}, scores[KEYS / 2];
        unsigned weights[KEYS / 16][4];
        unsigned long long q = wgmma_tile(shared_address(m.q) + group * 64 * LINE, 1024, 0);
        rows r = {{lowest(), lowest()}, {0, 0}, {0, 0}};
        if (p.first < p.last)
            barrier_wait(&m.q_full, 0);
        for (int tile = p.last - 1, turn = 0; tile >= p.first; tile--, turn++) {
            int stage = turn % STAGES;
            unsigned parity = turn / STAGES % 2;
            barrier_wait(&m.k_full[stage], parity);
            wgmma_fence();
            in::ask_scores(scores, q, m.k[stage][0]);
            wgmma_wait<0>();
            wgmma_hold(scores);
            leave(&m.k_empty[stage]);
            finish_scores<CAPPED>(scores, g, p.s, warp_row, row, tile * KEYS, r, g.scale);
            pack<type>(weights, scores);
#pragma unroll
            for (int i = 0; i < DIM / 2; i++)
                out[i] *= r.shrink[i / 2 % 2];
            barrier_wait(&m.v_full[stage], parity);
            wgmma_hold(out);
            wgmma_fence();
            in::ask_output(out, weights, m.v[stage][0]);
            wgmma_wait<0>();
            wgmma_hold(out);
            leave(&m.v_empty[stage]);
        }
        store<type>(out, r, g, p.s, row, factors{g.scale, g.kept});
    }

    /* Under a causal mask the last rows have most to do: they come first. */
    static __device__ __forceinline__ void run(const attention_arguments &g)
    {
        extern __shared__ __align__(1024) unsigned char memory[];
        stages &m = *(stages *)memory;
        int group = threadIdx.x / 128;
        sequence s = sequence_of(g, blockIdx.x);
        place p = in::place_at(g, s, (int)(gridDim.y - 1 - blockIdx.y) * QUERIES);
        if (p.row >= s.queries) /* packed sequences, of which this is not the longest */
            return;
        if (threadIdx.x == 0)
            make_barriers(m);
        __syncthreads();
        if (group == CONSUMERS) {
            registers_lower_to<24>();
            if (threadIdx.x / 32 == 4 * CONSUMERS && p.first < p.last && elect_one())
                produce(m, g, p);
        } else {
            registers_raise_to<240>();
            consume(m, g, p, group);
        }
    }
};

#define ATTENTION(name, type, dim, keys, capped)                                                   \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                       \
        attention_##type##_##dim##_##keys##name(const __grid_constant__ attention_arguments g)     \
    {                                                                                              \
        flash<type, dim, keys, capped>::run(g);                                                    \
    }
#define ATTENTIONS(name, type, capped)                                                             \
    ATTENTION(name, type, 64, 128, capped)                                                         \
    ATTENTION(name, type, 96, 128, capped)                                                         \
    ATTENTION(name, type, 128, 128, capped)                                                        \
    ATTENTION(name, type, 256, 80, capped)
ATTENTIONS(, bf16, false)
ATTENTIONS(, f16, false)
ATTENTIONS(_capped, bf16, true)
ATTENTIONS(_capped, f16, true)
