/*
 * fp8.cu: attention of Q, K and V in e4m3, with both products on 8-bit tensor cores, which do twice
 * as many FLOPs in a cycle as overlapped.cu's. O is bf16. What is different:
 *
 *   Weights become e4m3. They are 256 at most instead of 1, so that those down to 2^-14 of the
 *   largest keep all their bits; the sum grows as much, and the factor is gone after the division.
 *   Sums of 8-bit products keep 14 bits. So each tile of keys gets sums of its own, which are added
 *   to the output in f32: with the multiply-add that shrinks it anyhow.
 *   Exponentials take as long as both products. So three warpgroups have 64 queries each, and each
 * does one thing after the other: scores, exponentials, the product with V. While one waits for the
 * tensor cores, the others have exponentials to take. A tile's sums lie where its scores were, or
 * registers would not do for three.
 *
 * V comes transposed (values.h), in the order of keys in which the weights lie in registers. They
 * go through shared memory all the same: a warp is held at a product whose factor lies in its
 * registers until that has been read.
 */
// arch: sm_90a
#define CONSUMERS 3
#define QUERIES 192 /* of a tile */
#include "shares.h"
#include "tiles.h"
#include "values.h"
#include "wgmma8.h"
#define KEYS VALUE_KEYS
#define LIFT 8 /* weights are 2^8 at most */

static __device__ __forceinline__ void store_shared(unsigned at, unsigned word)
{
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(at), "r"(word) : "memory");
}

/* SHARED: blocks share the tiles of the last round. */
template <int DIM, bool SHARED> struct flash {
    typedef shares<KEYS> in;
    struct stages { /* lines of 128 bytes: one of Q and K, 128 keys of V */
        unsigned char q[QUERIES * LINE], k[STAGES][KEYS * LINE], v[STAGES][DIM * LINE];
        unsigned char weights[CONSUMERS][64 * LINE];
        barrier q_full, q_empty, k_full[STAGES], k_empty[STAGES], v_full[STAGES], v_empty[STAGES];
    };

    /* Loads, by one thread -------------------------------------------------------------------*/

    static __device__ __forceinline__ void load_rows(void *to, bool is_ragged,
                                                     const tensor_map *map, int row, int head,
                                                     int first, int rows, int batch, barrier *full)
    {
        if (is_ragged)
            load_ragged_box(to, map, 0, row, head, first, rows, full);
        else
            load_box(to, map, 0, row, head, batch, full);
    }

    static __device__ __forceinline__ void load_tile(stages &m, const attention_arguments &g,
                                                     const sequence &s, int tile, int column,
                                                     int stage, unsigned parity)
    {
        barrier_wait(&m.k_empty[stage], parity ^ 1);
        barrier_arrive_expecting(&m.k_full[stage], KEYS * DIM);
        load_rows(m.k[stage], g.is_ragged, &g.k_map, tile * KEYS, s.kv_head,
                  s.k_first + s.batch * g.k_apart, s.visible, s.batch, &m.k_full[stage]);
        barrier_wait(&m.v_empty[stage], parity ^ 1);
        barrier_arrive_expecting(&m.v_full[stage], KEYS * DIM);
        load_box(m.v[stage], &g.v_map, column + tile * KEYS, 0, s.kv_head, 0, &m.v_full[stage]);
    }

    static __device__ __forceinline__ void produce(stages &m, const attention_arguments &g)
    {
        unsigned phases = 0; /* a bit for each stage, and one for Q */
        piece p;
        for (int round = 0; in::piece_of<SHARED>(g, round, p); round++) {
            if (p.first == p.last)
                continue;
            barrier_wait(&m.q_empty, phases >> 2 & 1 ^ 1);
            barrier_arrive_expecting(&m.q_full, QUERIES * DIM);
            load_rows(m.q, g.q_begin, &g.q_map, p.row, p.s.head, p.s.q_first, p.s.queries,
                      p.s.batch, &m.q_full);
            phases ^= 4;
            int column = first_column(g, p.s.k_first, p.s.number);
            for (int tile = p.last - 1, stage = 0; tile >= p.first; tile--, stage ^= 1) {
                load_tile(m, g, p.s, tile, column, stage, phases >> stage & 1);
                phases ^= 1 << stage;
            }
        }
    }

    /* Products, by a warpgroup ---------------------------------------------------------------*/

    struct work {
        float out[DIM / 2];
        float sums[KEYS / 2]; /* a tile's scores, then the first DIM / 2 its part of the output */
        float own[DIM == 64 ? DIM / 2 : 1]; /* or here: ptxas would put waits between products */
        rows r;
        factors f;
        unsigned long long q, in_shared; /* descriptors of Q and of the weights */
        unsigned stored;                 /* where this thread's first row of weights lies */
        unsigned phases;                 /* of the stages, a bit each, and of Q */
        int row;

        __device__ __forceinline__ float (&part())[DIM / 2]
        {
            return *(float(*)[DIM / 2])(DIM == 64 ? own : sums);
        }
    };

    /* scores = Q K^T for the warpgroup's 64 rows; not waited for. */
    static __device__ __forceinline__ void ask_scores(work &w, unsigned char *of_k)
    {
        unsigned long long k = wgmma_tile(shared_address(of_k), 8 * LINE, 0);
#pragma unroll
        for (int i = 0; i < DIM / 32; i++)
            wgmma_e4m3::multiply(w.sums, w.q + 2 * i, k + 2 * i, i > 0);
        wgmma_commit();
    }

    /* part = weights V; not waited for. */
    static __device__ __forceinline__ void ask_part(work &w, unsigned char *of_v)
    {
        unsigned long long v = wgmma_tile(shared_address(of_v), 8 * LINE, 0);
#pragma unroll
        for (int i = 0; i < KEYS / 32; i++)
            wgmma_e4m3::multiply(w.part(), w.in_shared + 2 * i, v + 2 * i, i > 0);
        wgmma_commit();
    }

    static __device__ __forceinline__ void weigh(work &w, const attention_arguments &g,
                                                 const place &p, int tile)
    {
        finish_scores<false, LIFT>(w.sums, g, p.s, w.row - threadIdx.x % 32 / 4, w.row, tile * KEYS,
                                   w.r, w.f.score);
    }

    /* Into lines of the swizzle: a warp's stores meet all banks, and only the warp itself
     * multiplies its rows. */
    static __device__ __forceinline__ void store_weights(work &w)
    {
#pragma unroll
        for (int i = 0; i < KEYS / 32; i++)
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const float *x = w.sums + 16 * i + j / 2 * 8 + j % 2 * 2;
                unsigned chunk = 2 * i + j / 2, row = j % 2 * 8;
                store_shared((w.stored ^ chunk << 4) + row * LINE,
                             e4m3::pack(x[0], x[1], x[4], x[5]));
            }
        tma_fence();
        __syncwarp();
    }

    static __device__ __forceinline__ void add_part(work &w)
    {
#pragma unroll
        for (int i = 0; i < DIM / 2; i++)
            w.out[i] = fmaf(w.out[i], w.r.shrink[i / 2 % 2], w.part()[i]);
    }

    /* One tile of keys, in STAGE. */
    template <int STAGE>
    static __device__ __forceinline__ void step(stages &m, const attention_arguments &g,
                                                const place &p, int tile, work &w)
    {
        barrier_wait(&m.k_full[STAGE], w.phases >> STAGE & 1);
        wgmma_hold(w.sums);
        wgmma_fence();
        ask_scores(w, m.k[STAGE]);
        wgmma_wait<0>();
        wgmma_hold(w.sums);
        leave(&m.k_empty[STAGE]);
        weigh(w, g, p, tile);
        store_weights(w);
        barrier_wait(&m.v_full[STAGE], w.phases >> STAGE & 1);
        w.phases ^= 1 << STAGE;
        wgmma_hold(w.part());
        wgmma_fence();
        ask_part(w, m.v[STAGE]);
        wgmma_wait<0>();
        wgmma_hold(w.part());
        leave(&m.v_empty[STAGE]);
        add_part(w);
    }

    static __device__ __forceinline__ void attend(stages &m, const attention_arguments &g,
                                                  const place &p, work &w)
    {
        int tile = p.last - 1;
        barrier_wait(&m.q_full, w.phases >> 2 & 1);
        w.phases ^= 4;
        while (true) {
            step<0>(m, g, p, tile--, w);
            if (tile < p.first)
                break;
            step<1>(m, g, p, tile--, w);
            if (tile < p.first)
                break;
        }
        leave(&m.q_empty);
    }

    /* A scale of 0 must not meet minus infinity; scales below 0 are refused with NaN. */
    static __device__ __forceinline__ factors scaled_factors(const attention_arguments &g,
                                                             const sequence &s)
    {
        factors f = factors_of(g, s);
        float score = f.score * g.scale;
        f.score = score >= 0 ? fmaxf(score, 1e-30f) : __uint_as_float(0x7fffffff);
        return f;
    }

    static __device__ __forceinline__ void consume(stages &m, const attention_arguments &g,
                                                   int group)
    {
        work w;
        piece p;
        unsigned lane = threadIdx.x % 32, row = threadIdx.x % 128 / 32 * 16 + lane / 4;
        w.phases = 0;
        w.q = wgmma_tile(shared_address(m.q) + group * 64 * LINE, 8 * LINE, 0);
        w.in_shared = wgmma_tile(shared_address(m.weights[group]), 8 * LINE, 0);
        w.stored = shared_address(m.weights[group]) + row * LINE + (lane / 4 << 4) + lane % 4 * 4;
#pragma unroll
        for (int i = 0; i < KEYS / 2; i++)
            w.sums[i] = 0;
#pragma unroll
        for (int i = 0; i < DIM / 2; i++)
            w.part()[i] = 0;
        for (int round = 0; in::piece_of<SHARED>(g, round, p); round++) {
            w.row = p.row + group * 64 + row;
            w.r = nothing();
            w.f = scaled_factors(g, p.s);
#pragma unroll
            for (int i = 0; i < DIM / 2; i++)
                w.out[i] = 0;
            if (p.first < p.last)
                attend(m, g, p, w);
            if (SHARED && p.part >= 0)
                store_part<CONSUMERS>(w.out, w.r, g, p.part);
            else
                store<bf16, LIFT>(w.out, w.r, g, p.s, w.row, w.f);
        }
    }

    /* Block x: a warpgroup's rows of a tile that blocks shared. */
    static __device__ __forceinline__ void merge(const attention_arguments &g)
    {
        merged<DIM, KEYS, CONSUMERS> m(g);
        factors f = scaled_factors(g, m.p.s);
        m.add_all(g, f.score);
        store<bf16, LIFT>(m.out, m.r, g, m.p.s, m.row, f);
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
            registers_lower_to<32>();
            if (threadIdx.x / 32 == 4 * CONSUMERS && elect_one())
                produce(m, g);
        } else {
            registers_raise_to<160>();
            consume(m, g, group);
        }
    }
};

extern "C" __global__ void __launch_bounds__(ORDER_THREADS)
    order_tiles(const __grid_constant__ attention_arguments g)
{
    make_list(g);
}

#define SHARED_TILES(dim)                                                                          \
    extern "C" __global__ void __launch_bounds__(128)                                              \
        merge_parts_e4m3_##dim(const __grid_constant__ attention_arguments g)                      \
    {                                                                                              \
        flash<dim, true>::merge(g);                                                                \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                       \
        attention_e4m3_##dim##_shared(const __grid_constant__ attention_arguments g)               \
    {                                                                                              \
        flash<dim, true>::run(g);                                                                  \
    }
#define ATTENTION(dim)                                                                             \
    extern "C" __global__ void __launch_bounds__(VALUE_THREADS)                                    \
        transpose_values_##dim(const __grid_constant__ attention_arguments g)                      \
    {                                                                                              \
        transpose_values<dim>(g);                                                                  \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                       \
        attention_e4m3_##dim(const __grid_constant__ attention_arguments g)                        \
    {                                                                                              \
        flash<dim, false>::run(g);                                                                 \
    }
ATTENTION(64)
ATTENTION(96)
ATTENTION(128)
SHARED_TILES(64)
SHARED_TILES(128)
