/*
 * overlapped.cu: softmax beside the tensor cores. A warpgroup asks for the next tile's scores
 * before it multiplies this tile's weights by V, and computes the next weights while that product
 * is under way. And the two warpgroups take turns (ping-pong): a named barrier lets one ask for its
 * products while the other is busy with exponentials. Weights go from the sums of one product
 * straight into the registers of the next. Blocks are persistent; under a causal mask the longest
 * rows of tiles come first, every other round backwards, so that all blocks end together. Of packed
 * sequences, order_tiles has made a list of them before.
 */
// arch: sm_90a
#include "shares.h"
#include "tiles.h"
#include "turns_of_two.h"

/* SHARED: blocks share the tiles of the last round. */
template <class type, int DIM, int KEYS, bool CAPPED, bool SHARED>
struct flash : tiles<type, DIM, KEYS> {
    typedef tiles<type, DIM, KEYS> in;
    typedef shares<KEYS> tiles_of;
    typedef typename in::stages stages;

    /* By one thread. The first tile of keys goes to stage 0, the next to stage 1, and so on. */
    static __device__ __forceinline__ void produce(stages &m, const attention_arguments &g)
    {
        unsigned phases = 0; /* a bit for each stage, and one for Q */
        piece p;
        for (int round = 0; tiles_of::template piece_of<SHARED>(g, round, p); round++) {
            if (p.first == p.last)
                continue;
            barrier_wait(&m.q_empty, phases >> 2 & 1 ^ 1);
            in::load_queries(m, g, p);
            phases ^= 4;
            for (int tile = p.last - 1, stage = 0; tile >= p.first; tile--, stage ^= 1) {
                unsigned parity = phases >> stage & 1;
                in::load(m.k[stage], g, &g.k_map, g.k_apart, p.s, tile, &m.k_full[stage],
                         &m.k_empty[stage], parity);
                in::load(m.v[stage], g, &g.v_map, g.v_apart, p.s, tile, &m.v_full[stage],
                         &m.v_empty[stage], parity);
                phases ^= 1 << stage;
            }
        }
    }

    /* What a warpgroup is at. */
    struct work {
        float out[DIM / 2];
        float scores[KEYS / 2];
        unsigned weights[KEYS / 16][4];
        rows r;
        unsigned long long q; /* its descriptor */
        unsigned phases;      /* of the stages, a bit each, and of Q */
        int group, row;
    };

    /* Scores of the next tile, in STAGE, and the output of the one before it. */
    template <int STAGE>
    static __device__ __forceinline__ void step(stages &m, const attention_arguments &g,
                                                const place &p, int tile, work &w)
    {
        barrier_wait(&m.k_full[STAGE], w.phases >> STAGE & 1);
        turn_wait(w.group);
        wgmma_hold(w.out);
        wgmma_fence();
        in::ask_scores(w.scores, w.q, m.k[STAGE][0]);
        barrier_wait(&m.v_full[STAGE ^ 1], w.phases >> (STAGE ^ 1) & 1);
        w.phases ^= 1 << (STAGE ^ 1);
        wgmma_fence();
        in::ask_output(w.out, w.weights, m.v[STAGE ^ 1][0]);
        turn_pass(w.group);
        wgmma_wait<1>();
        wgmma_hold(w.scores);
        leave(&m.k_empty[STAGE]);
        finish_scores<CAPPED>(w.scores, g, p.s, w.row - threadIdx.x % 32 / 4, w.row, tile * KEYS,
                              w.r, g.scale);
        wgmma_wait<0>();
        wgmma_hold(w.out);
        leave(&m.v_empty[STAGE ^ 1]);
#pragma unroll
        for (int i = 0; i < DIM / 2; i++)
            w.out[i] *= w.r.shrink[i / 2 % 2];
        pack<type>(w.weights, w.scores);
    }

    static __device__ __forceinline__ void attend(stages &m, const attention_arguments &g,
                                                  const place &p, work &w)
    {
        barrier_wait(&m.q_full, w.phases >> 2 & 1);
        w.phases ^= 4;
        barrier_wait(&m.k_full[0], w.phases & 1);
        wgmma_fence();
        in::ask_scores(w.scores, w.q, m.k[0][0]);
        wgmma_wait<0>();
        wgmma_hold(w.scores);
        leave(&m.k_empty[0]);
        finish_scores<CAPPED>(w.scores, g, p.s, w.row - threadIdx.x % 32 / 4, w.row,
                              (p.last - 1) * KEYS, w.r, g.scale);
        pack<type>(w.weights, w.scores);
        int tile = p.last - 2, last = 0;
        while (tile >= p.first) {
            step<1>(m, g, p, tile--, w);
            last = 1;
            if (tile < p.first)
                break;
            step<0>(m, g, p, tile--, w);
            last = 0;
        }
        leave(&m.q_empty);
        barrier_wait(&m.v_full[last], w.phases >> last & 1);
        w.phases ^= 1 << last;
        wgmma_hold(w.out);
        wgmma_fence();
        in::ask_output(w.out, w.weights, m.v[last][0]);
        wgmma_wait<0>();
        wgmma_hold(w.out);
        leave(&m.v_empty[last]);
    }

    static __device__ __forceinline__ void consume(stages &m, const attention_arguments &g,
                                                   int group)
    {
        work w;
        piece p;
        w.phases = 0;
        w.group = group;
        w.q = wgmma_tile(shared_address(m.q) + group * 64 * LINE, 1024, 0);
        if (group == 1)
            turn_pass(group);
        for (int round = 0; tiles_of::template piece_of<SHARED>(g, round, p); round++) {
            w.row = p.row + group * 64 + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
            w.r = nothing();
#pragma unroll
            for (int i = 0; i < DIM / 2; i++)
                w.out[i] = 0;
            if (p.first < p.last)
                attend(m, g, p, w);
            if (SHARED && p.part >= 0)
                store_part<CONSUMERS>(w.out, w.r, g, p.part);
            else
                store<type>(w.out, w.r, g, p.s, w.row, factors{g.scale, g.kept});
        }
        if (group == 0)
            turn_wait(group); /* takes the turn that is left over */
    }

    static __device__ __forceinline__ void run(const attention_arguments &g)
    {
        extern __shared__ __align__(1024) unsigned char memory[];
        stages &m = *(stages *)memory;
        int group = threadIdx.x / 128;
        if (threadIdx.x == 0)
            make_barriers(m);
        __syncthreads();
        if (group == CONSUMERS) {
            registers_lower_to<24>();
            if (threadIdx.x / 32 == 4 * CONSUMERS && elect_one())
                produce(m, g);
        } else {
            registers_raise_to<240>();
            consume(m, g, group);
        }
    }
};

extern "C" __global__ void __launch_bounds__(ORDER_THREADS)
    order_tiles(const __grid_constant__ attention_arguments g)
{
    make_list(g);
}

#define ATTENTION(name, type, dim, keys, capped, shared)                                           \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                       \
        attention_##type##_##dim##_##keys##name(const __grid_constant__ attention_arguments g)     \
    {                                                                                              \
        flash<type, dim, keys, capped, shared>::run(g);                                            \
    }
/* Block x: a warpgroup's rows of a tile that blocks shared. */
#define SHARED_TILES(type, dim, keys)                                                              \
    ATTENTION(_shared, type, dim, keys, false, true)                                               \
    extern "C" __global__ void __launch_bounds__(128)                                              \
        merge_parts_##type##_##dim(const __grid_constant__ attention_arguments g)                  \
    {                                                                                              \
        merged<dim, keys, CONSUMERS> m(g);                                                         \
        m.add_all(g, g.scale);                                                                     \
        store<type>(m.out, m.r, g, m.p.s, m.row, factors{g.scale, g.kept});                        \
    }
#define ATTENTIONS(type)                                                                           \
    ATTENTION(, type, 64, 128, false, false)                                                       \
    ATTENTION(, type, 64, 176, false, false)                                                       \
    ATTENTION(, type, 96, 128, false, false)                                                       \
    ATTENTION(, type, 128, 128, false, false)                                                      \
    ATTENTION(, type, 128, 176, false, false)                                                      \
    ATTENTION(, type, 256, 80, false, false)                                                       \
    ATTENTION(_capped, type, 64, 128, true, false)                                                 \
    ATTENTION(_capped, type, 96, 128, true, false)                                                 \
    ATTENTION(_capped, type, 128, 128, true, false)                                                \
    ATTENTION(_capped, type, 256, 80, true, false)                                                 \
    SHARED_TILES(type, 128, 176)
ATTENTIONS(bf16)
ATTENTIONS(f16)
