/*
 * one_pass.cu: five products instead of seven. A block keeps 128 keys and goes through the queries
 * once; a warpgroup has dK and dV of its 64 keys in registers. dS, which it has there too, also
 * goes to shared memory, where each warpgroup takes that of both and makes half of the tile's dQ.
 * Other blocks have other parts of the same dQ: TMA adds them up in memory, in f32 and in the order
 * in which they come, so that the last bits differ from run to run. A last kernel rounds the sums.
 *
 * The warpgroups take turns with the tensor cores: while one has five products under way, the other
 * makes P and dS of what it asked for before. dQ is two tiles behind, as by then the other's part
 * of dS is there without waiting.
 */
// arch: sm_90a
#include "tiles.h"
#define SECTION 4 /* heads at a time: their sums of dQ then stay in the L2 */

/* Tiles have as many numbers at both sizes of a head, and so need as many registers. */
#define TILES(type, DIM) tiles<type, DIM, 64 * 128 / DIM, DIM == 64 ? 2 : 3>

/* The thread's number, read anew: what is made of it takes no register through the loop. */
static __device__ __forceinline__ int thread_anew(void)
{
    int thread;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
    return thread;
}
static __device__ __forceinline__ int group_anew(void)
{
    return thread_anew() / 128;
}

static __device__ __forceinline__ void turn_wait(void)
{
    asm volatile("bar.sync %0, 256;" ::"r"(1 + group_anew()) : "memory");
}
static __device__ __forceinline__ void turn_pass(void)
{
    asm volatile("bar.arrive %0, 256;" ::"r"(2 - group_anew()) : "memory");
}

/* Sums of dQ follow the deltas in the workspace. 64 rows and 64 columns are one piece, and each
 * warp of a warpgroup has a quarter of it, in the order of its registers: sums[4 i ..] of a lane
 * are the 16 bytes at 32 i + lane. */
#define PIECE (64 * 64)
static __device__ __forceinline__ float *sums_of(const backward_arguments &g, int head, int row)
{
    return deltas_of(g, g.batch * g.heads * g.group) + ((long long)head * g.padded + row) * g.dim;
}

template <class type, int DIM> struct one_pass : TILES(type, DIM) {
    typedef TILES(type, DIM) in;
    static const int ROWS = 64 * 128 / DIM, STAGES = DIM == 64 ? 2 : 3;
    struct memory : in::memory {
        alignas(1024) unsigned char slopes[2][ROWS / 64][KEPT * LINE]; /* dS: a line for each key */
        float dq[4 * CONSUMERS][PIECE / 4]; /* of each warp, on its way to memory */
        barrier slopes_full[2], slopes_empty[2];
    };

    /* The tiles of queries that a block goes through, of each head that shares its keys. */
    struct place {
        int head, tile, begin, tiles;
        __device__ __forceinline__ void next(void)
        {
            tile++;
            if (tile == tiles) {
                tile = begin;
                head++;
            }
        }
    };
    static __device__ __forceinline__ place first_place(const backward_arguments &g, int key,
                                                        int kv_head)
    {
        int begin = in::first_tile(g, key);
        return {kv_head * g.group, begin, begin, (g.queries + ROWS - 1) / ROWS};
    }
    static __device__ __forceinline__ int turns_from(const backward_arguments &g, const place &at)
    {
        return max(at.tiles - at.begin, 0) * g.group;
    }

    struct of_keys {
        float dk[DIM / 2], dv[DIM / 2], weights[ROWS / 2], slopes[ROWS / 2], dq[PIECE / 128];
        unsigned packed_weights[ROWS / 16][4], packed_slopes[ROWS / 16][4];
        int key; /* the block's first */
    };

    /* dS to shared memory: lines of keys, where a chunk of 16 bytes is eight queries. */
    static __device__ __forceinline__ void hand_over(memory &m, const of_keys &w, int turn)
    {
        int thread = thread_anew(), line = thread / 32 * 16 + thread % 16, buffer = turn % 2;
        unsigned to =
            shared_address(m.slopes[buffer]) + line * LINE + (thread % 32 / 16 ^ line % 8) * 16;
        barrier_wait(&m.slopes_empty[buffer], turn / 2 % 2 ^ 1);
#pragma unroll
        for (int i = 0; i < ROWS / 16; i++)
            asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                             (to ^ i % 4 * 32) + i / 4 * (KEPT * LINE)),
                         "r"(w.packed_slopes[i][0]), "r"(w.packed_slopes[i][1]),
                         "r"(w.packed_slopes[i][2]), "r"(w.packed_slopes[i][3])
                         : "memory");
        tma_fence();
        __syncwarp();
        if (thread % 32 == 0)
            barrier_arrive(&m.slopes_full[buffer]);
    }

    /* A warpgroup's piece of dQ: of 128 queries it has one half, of 128 columns likewise. */
    static __device__ __forceinline__ void ask_queries(memory &m, of_keys &w, int turn)
    {
        int buffer = turn % 2, half = group_anew();
        barrier_wait(&m.slopes_full[buffer], turn / 2 % 2);
        unsigned long long slopes =
            wgmma_tile(shared_address(m.slopes[buffer][ROWS == 128 ? half : 0]), 1024, 0);
        unsigned long long keys =
            wgmma_tile(shared_address(m.kept[0][DIM == 128 ? half : 0]), 1024, 0);
        wgmma_fence();
#pragma unroll
        for (int i = 0; i < KEPT / 16; i++)
            multiply_across(type(), w.dq, in::beyond(slopes, i * 2048), in::beyond(keys, i * 2048),
                            i > 0);
        wgmma_commit();
    }
    static __device__ __forceinline__ void add_queries(memory &m, const backward_arguments &g,
                                                       const of_keys &w, const place &at)
    {
        int thread = thread_anew(), lane = thread % 32;
        float *shared = m.dq[thread / 32];
        if (lane == 0)
            tma_store_wait_read<0>();
        __syncwarp();
#pragma unroll
        for (int i = 0; i < PIECE / 512; i++)
            ((float4 *)shared)[32 * i + lane] =
                make_float4(w.dq[4 * i], w.dq[4 * i + 1], w.dq[4 * i + 2], w.dq[4 * i + 3]);
        tma_fence();
        __syncwarp();
        if (lane == 0) {
            bulk_add(sums_of(g, at.head, at.tile * ROWS) + thread / 32 * (PIECE / 4), shared,
                     sizeof m.dq[0]);
            tma_store_commit();
        }
    }

    /* A warpgroup's rows of K or V. */
    static __device__ __forceinline__ unsigned long long rows_of(const memory &m, int which)
    {
        return wgmma_tile(shared_address(m.kept[which]) + group_anew() * 64 * LINE, 1024, 0);
    }
    static __device__ __forceinline__ void ask_scores(memory &m, of_keys &w, int turn)
    {
        int stage = turn % STAGES;
        barrier_wait(&m.full[stage], turn / STAGES % 2);
        wgmma_fence();
        in::ask(w.weights, rows_of(m, 0), m.passing[stage][0][0]);
        in::ask(w.slopes, rows_of(m, 1), m.passing[stage][1][0]);
    }
    /* P and dS of what was asked for. */
    static __device__ __forceinline__ void differentiate(memory &m, const backward_arguments &g,
                                                         of_keys &w, int turn, int query)
    {
        int stage = turn % STAGES;
        wgmma_wait<1>();
        wgmma_hold(w.weights);
        in::weigh_columns(w.weights, m.lse[stage], g);
        if (w.key + KEPT - 1 > last_key(g, query)) {
            int thread = thread_anew();
            in::mask_columns(w.weights, g, w.key + thread / 32 * 16 + thread % 32 / 4,
                             query + thread % 4 * 2);
        }
        wgmma_wait<0>();
        wgmma_hold(w.slopes);
        in::slope_columns(w.slopes, w.weights, m.delta[stage]);
        pack<type>(w.packed_slopes, w.slopes);
        pack<type>(w.packed_weights, w.weights);
        hand_over(m, w, turn);
    }
    /* dK and dV of the tile of a turn. */
    static __device__ __forceinline__ void ask_keys(memory &m, of_keys &w, int turn)
    {
        int stage = turn % STAGES;
        wgmma_hold(w.dv);
        wgmma_hold(w.dk);
        wgmma_fence();
        in::add(w.dv, w.packed_weights, m.passing[stage][1][0]);
        in::add(w.dk, w.packed_slopes, m.passing[stage][0][0]);
    }
    static __device__ __forceinline__ void wait_keys(of_keys &w)
    {
        wgmma_wait<0>();
        wgmma_hold(w.dv);
        wgmma_hold(w.dk);
    }

    /* dQ of the tile before the one before, if there is one; dK and dV of the one before; and this
     * one's P and dS. */
    template <bool BEFORE>
    static __device__ __forceinline__ void take(memory &m, const backward_arguments &g, of_keys &w,
                                                int turn, const place &at, const place &behind)
    {
        turn_wait();
        if (BEFORE)
            ask_queries(m, w, turn - 2);
        ask_keys(m, w, turn - 1);
        if (BEFORE) {
            wgmma_wait<2>();
            wgmma_hold(w.dq);
            in::leave(&m.slopes_empty[turn % 2]);
            add_queries(m, g, w, behind);
        }
        wait_keys(w);
        in::leave(&m.empty[(turn - 1) % STAGES]);
        ask_scores(m, w, turn);
        turn_pass();
        differentiate(m, g, w, turn, at.tile * ROWS);
    }

    static __device__ __forceinline__ void consume_queries(memory &m, const backward_arguments &g,
                                                           of_keys &w, place at)
    {
        int turns = turns_from(g, at);
        place behind = at;
        ask_scores(m, w, 0);
        differentiate(m, g, w, 0, at.tile * ROWS);
        if (turns > 1) {
            at.next();
            take<false>(m, g, w, 1, at, behind);
            for (int turn = 2; turn < turns; turn++) {
                at.next();
                take<true>(m, g, w, turn, at, behind);
                behind.next();
            }
            ask_queries(m, w, turns - 2);
            wgmma_wait<0>();
            wgmma_hold(w.dq);
            add_queries(m, g, w, behind);
            behind.next();
        }
        ask_keys(m, w, turns - 1);
        ask_queries(m, w, turns - 1);
        wait_keys(w);
        wgmma_hold(w.dq);
        add_queries(m, g, w, behind);
    }

    static __device__ __forceinline__ void consume(memory &m, const backward_arguments &g, int key,
                                                   int kv_head, int group)
    {
        place at = first_place(g, key, kv_head);
        int mine = key + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
        of_keys w;
        w.key = key;
#pragma unroll
        for (int i = 0; i < DIM / 2; i++)
            w.dk[i] = w.dv[i] = 0;
        barrier_wait(&m.kept_full, 0);
        if (turns_from(g, at) > 0) {
            if (group == 1)
                turn_pass();
            consume_queries(m, g, w, at);
            if (group == 0)
                turn_wait();
        }
        in::store(w.dv, g.dv, kv_head, mine, g.keys, 1);
        in::store(w.dk, g.dk, kv_head, mine, g.keys, g.scale);
        if (threadIdx.x % 32 == 0)
            tma_store_wait_read<0>();
    }

    static __device__ __forceinline__ void make_barriers(memory &m)
    {
        for (int i = 0; i < 2; i++) {
            barrier_make(&m.slopes_full[i], 4 * CONSUMERS);
            barrier_make(&m.slopes_empty[i], CONSUMERS);
        }
        in::make_barriers(m);
    }
    static __device__ __forceinline__ void run(const backward_arguments &g)
    {
        extern __shared__ __align__(1024) unsigned char shared[];
        memory &m = *(memory *)shared;
        /* Section by section; of one, the first keys, which see most under a causal mask. */
        int tiles = (g.keys + KEPT - 1) / KEPT, before = blockIdx.x / (SECTION * tiles) * SECTION;
        int at = blockIdx.x - before * tiles, heads = min(g.batch * g.heads - before, SECTION);
        int key = at / heads * KEPT, head = before + at % heads, group = threadIdx.x / 128;
        if (threadIdx.x == 0)
            make_barriers(m);
        __syncthreads();
        if (group == CONSUMERS) {
            registers_lower_to<24>();
            if (threadIdx.x / 32 == 4 * CONSUMERS && elect_one())
                in::produce_queries(m, g, key, head);
        } else {
            registers_raise_to<240>();
            consume(m, g, key, head, group);
        }
    }

    /* The sums of 64 rows, times scale, to dQ. */
    static __device__ __forceinline__ void round(const backward_arguments &g)
    {
        int row = blockIdx.x * 64, head = blockIdx.y, thread = threadIdx.x;
        const float4 *from = (const float4 *)sums_of(g, head, row);
        float sums[DIM / 2];
#pragma unroll
        for (int i = 0; i < DIM / 8; i++) {
            float4 four = from[i / 8 * 1024 + thread / 32 * 256 + i % 8 * 32 + thread % 32];
            sums[4 * i] = four.x;
            sums[4 * i + 1] = four.y;
            sums[4 * i + 2] = four.z;
            sums[4 * i + 3] = four.w;
        }
        in::store(sums, g.dq, head, row + thread / 32 * 16 + thread % 32 / 4, g.queries, g.scale);
    }
};

/* The first pass of backward.h with eight numbers to a thread, which also clears the sums. */
template <class type, int DIM>
static __device__ __forceinline__ void prepare_sums(const backward_arguments &g)
{
    const int lanes = DIM / 8; /* of a row */
    int row = (blockIdx.x * 256 + threadIdx.x) / lanes, head = blockIdx.y;
    int column = threadIdx.x % lanes * 8;
    float sum = 0;
    if (row < g.queries) {
        long long at = ((long long)head * g.queries + row) * DIM + column;
        uint4 grad = *(const uint4 *)((const unsigned short *)g.grad + at);
        uint4 o = *(const uint4 *)((const unsigned short *)g.o + at);
        unsigned a[4] = {grad.x, grad.y, grad.z, grad.w}, b[4] = {o.x, o.y, o.z, o.w};
#pragma unroll
        for (int i = 0; i < 4; i++) {
            float a_low, a_high, b_low, b_high;
            type::unpack(a[i], a_low, a_high);
            type::unpack(b[i], b_low, b_high);
            sum = fmaf(a_low, b_low, fmaf(a_high, b_high, sum));
        }
    }
    put_row<lanes>(g, head, row, sum);
    float4 *to = (float4 *)(sums_of(g, head, row) + column);
    to[0] = to[1] = make_float4(0, 0, 0, 0);
}

#define ONE_PASS(type, dim)                                                                        \
    extern "C" __global__ void __launch_bounds__(256)                                              \
        prepare_##type##_##dim(const __grid_constant__ backward_arguments g)                       \
    {                                                                                              \
        prepare_sums<type, dim>(g);                                                                \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                       \
        one_pass_##type##_##dim(const __grid_constant__ backward_arguments g)                      \
    {                                                                                              \
        one_pass<type, dim>::run(g);                                                               \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(128)                                              \
        round_##type##_##dim(const __grid_constant__ backward_arguments g)                         \
    {                                                                                              \
        one_pass<type, dim>::round(g);                                                             \
    }
ONE_PASS(bf16, 64)
ONE_PASS(bf16, 128)
ONE_PASS(f16, 64)
ONE_PASS(f16, 128)
