/*
 * one_pass.h: five products instead of seven. A block keeps 128 keys and goes through the queries
 * once; a warpgroup has dK and dV of its 64 keys in registers. dS, which it has there too, also
 * goes to shared memory, where each warpgroup takes that of both and makes half of the tile's dQ.
 * Other blocks have other parts of the same dQ: TMA adds them up in memory, in f32 and in the order
 * in which they come, so that the last bits differ from run to run. A last kernel rounds the sums.
 *
 * The warpgroups take turns with the tensor cores: while one has five products under way, the other
 * makes P and dS of what it asked for before. dQ is two tiles behind, as by then the other's part
 * of dS is there without waiting.
 */
#ifndef LOCKSTEP_KERNELS_ATTENTION_BACKWARD_ONE_PASS_H
#define LOCKSTEP_KERNELS_ATTENTION_BACKWARD_ONE_PASS_H

#include "ragged.h"
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

static __device__ __forceinline__ float *ragged_sums(const backward_arguments &g, const sequence &s,
                                                     int head, int row)
{
    float *first = (float *)g.workspace;
    return first + 2 * g.rows + (row_at(g, s, head, row) - first) * g.dim;
}

/* The sequence that has a row of the workspace, which becomes a row of that sequence; `head` was
 * counted over all sequences, unless they are packed. */
static __device__ __forceinline__ sequence sequence_of_row(const backward_arguments &g, int &row,
                                                           int &head)
{
    int heads = g.heads * g.group, number = head / heads;
    if (!g.q_begin) {
        head -= number * heads;
        return sequence_of(g, number);
    }
    sequence s = sequence_of(g, sequence_with(g.q_begin, g.batch, row / KEPT));
    row -= (int)s.rows;
    return s;
}

/* What scores go through: PLAIN: a causal mask at most; RAGGED: sequences of any length, padding
 * and windows too; BENT: ALiBi and dropout besides. */
enum kind { PLAIN, RAGGED, BENT };

template <class type, int DIM, kind KIND> struct one_pass : TILES(type, DIM) {
    typedef TILES(type, DIM) in;
    static const int ROWS = 64 * 128 / DIM, STAGES = DIM == 64 ? 2 : 3;
    struct memory : in::memory {
        alignas(1024) unsigned char slopes[2][ROWS / 64][KEPT * LINE]; /* dS: a line for each key */
        float dq[4 * CONSUMERS][PIECE / 4]; /* of each warp, on its way to memory */
        barrier slopes_full[2], slopes_empty[2];
        sequence s; /* here it takes no registers through the loop; not of PLAIN */
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
    static __device__ __forceinline__ place first_place(const memory &m,
                                                        const backward_arguments &g, int key,
                                                        int kv_head)
    {
        if (KIND != PLAIN)
            return ragged_place(m.s, g, key, kv_head);
        int begin = in::first_tile(g, key);
        return {kv_head * g.group, begin, begin, (g.queries + ROWS - 1) / ROWS};
    }
    /* The first query that sees one of the block's keys, and the last; `head` is the sequence's. */
    static __device__ __forceinline__ place ragged_place(const sequence &s,
                                                         const backward_arguments &g, int key,
                                                         int kv_head)
    {
        int ahead = s.keys - s.queries, begin = max(key - ahead - g.right, 0) / ROWS;
        int last = min(key + KEPT - 1 - ahead + g.left, s.queries - 1);
        int tiles = last >= 0 && key < s.visible ? last / ROWS + 1 : 0;
        return {kv_head * g.group, begin, begin, tiles};
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
    static __device__ __forceinline__ float *sums_at(const memory &m, const backward_arguments &g,
                                                     int head, int row)
    {
        return KIND == PLAIN ? sums_of(g, head, row) : ragged_sums(g, m.s, head, row);
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
            bulk_add(sums_at(m, g, at.head, at.tile * ROWS) + thread / 32 * (PIECE / 4), shared,
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
    /* Does a key of the block lie beyond what some query of a tile sees? */
    static __device__ __forceinline__ bool is_cut(const memory &m, const backward_arguments &g,
                                                  int key, int query)
    {
        if (KIND == PLAIN)
            return key + KEPT - 1 > last_key(g, query);
        int diagonal = query + m.s.keys - m.s.queries;
        return key + KEPT - 1 > min(diagonal + g.right, m.s.visible - 1) ||
               key < diagonal + ROWS - 1 - g.left;
    }
    static __device__ __forceinline__ void mask(const memory &m, const backward_arguments &g,
                                                of_keys &w, int query)
    {
        int thread = thread_anew(), key = w.key + thread / 32 * 16 + thread % 32 / 4;
        query += thread % 4 * 2;
        if (KIND == PLAIN) {
            in::mask_columns(w.weights, g, key, query);
            return;
        }
        int ahead = key - query - (m.s.keys - m.s.queries); /* of the diagonal */
        int least = -g.left, most = g.right, left = m.s.visible - key;
#pragma unroll
        for (int i = 0; i < ROWS / 2; i++) {
            int at = ahead + i / 2 % 2 * 8 - i / 4 * 8 - i % 2;
            if (at < least || at > most || i / 2 % 2 * 8 >= left)
                w.weights[i] = 0;
        }
    }

    /* ALiBi: as weigh_columns, of scores that lose for their distance from the diagonal. */
    static __device__ __forceinline__ void weigh_leaning(const memory &m,
                                                         const backward_arguments &g, of_keys &w,
                                                         const float *lse, const place &at)
    {
        int thread = thread_anew(), key = w.key + thread / 32 * 16 + thread % 32 / 4;
        int query = at.tile * ROWS + thread % 4 * 2;
        float slope = ((const float *)g.slopes)[at.head] * LOG2_E;
        float before = (float)(query + m.s.keys - m.s.queries - key);
#pragma unroll
        for (int c = 0; c < ROWS / 8; c++) {
            float2 of = *(const float2 *)(lse + 8 * c + thread % 4 * 2);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                float distance = fabsf(before + (float)(8 * c + i % 2 - i / 2 * 8));
                float score = fmaf(w.weights[4 * c + i], g.scale2, -(i % 2 ? of.y : of.x));
                w.weights[4 * c + i] = exp2_fast(fmaf(-slope, distance, score));
            }
        }
    }

    /* Dropout: a bit for each of the thread's weights that stay. */
    struct staying {
        unsigned bits[ROWS / 64];
    };
    static __device__ __forceinline__ staying draw(const memory &m, const backward_arguments &g,
                                                   const of_keys &w, const place &at)
    {
        const int AT_ONCE = DIM == 64 ? 1 : 4;            /* for want of registers */
        int thread = thread_anew(), odd = thread % 8 / 4; /* of its key, and so of its query */
        int key = w.key + thread / 32 * 16 + thread % 32 / 4;
        int query = at.tile * ROWS + thread % 4 * 2 + odd;
        unsigned below = (unsigned)g.dropped << 16;
        unsigned long long first = words_at(g, m.s, at.head, query, key);
        unsigned next = (g.keys + 15) / 16 * 32; /* words further on, 16 queries are */
        staying stay;
#pragma unroll
        for (int half = 0; half < ROWS / 64; half++) {
            stay.bits[half] = 0;
#pragma unroll AT_ONCE
            for (int n = 0; n < 4;
                 n++) { /* two lanes make what both need: an even and an odd query */
                uint4 words =
                    weight_words(g.low, g.high, first + (unsigned long long)(half * 4 + n) * next);
                unsigned low = odd ? words.z : words.x, high = odd ? words.w : words.y;
                unsigned low_else = __shfl_xor_sync(0xffffffff, odd ? words.x : words.z, 4);
                unsigned high_else = __shfl_xor_sync(0xffffffff, odd ? words.y : words.w, 4);
                unsigned mine = bits_of(low, high, below),
                         other = bits_of(low_else, high_else, below);
                stay.bits[half] |= (odd ? other | mine << 1 : mine | other << 1) << 8 * n;
            }
        }
        return stay;
    }
    /* As in weights: of an even query; of an odd one a bit further on. */
    static __device__ __forceinline__ unsigned bits_of(unsigned low, unsigned high, unsigned below)
    {
        return (low << 16 < below ? 0 : 1u) | (low < below ? 0 : 16u) |
               (high << 16 < below ? 0 : 4u) | (high < below ? 0 : 64u);
    }
    /* dS, and weights that are 0 where they are dropped; the others are multiplied when dV is
     * stored. */
    static __device__ __forceinline__ void slope_dropped(const backward_arguments &g, of_keys &w,
                                                         const float *delta, const staying &stay)
    {
        int column = thread_anew() % 4 * 2;
#pragma unroll
        for (int c = 0; c < ROWS / 8; c++) {
            float2 of = *(const float2 *)(delta + 8 * c + column);
#pragma unroll
            for (int i = 4 * c; i < 4 * c + 4; i++) {
                unsigned all = (int)(stay.bits[i / 32] << (31 - i % 32)) >> 31;
                float slope = __uint_as_float(__float_as_uint(w.slopes[i]) & all);
                w.slopes[i] = w.weights[i] * fmaf(slope, g.kept, -(i % 2 ? of.y : of.x));
                w.weights[i] = __uint_as_float(__float_as_uint(w.weights[i]) & all);
            }
        }
    }

    /* P and dS of what was asked for. */
    static __device__ __forceinline__ void differentiate(memory &m, const backward_arguments &g,
                                                         of_keys &w, int turn, const place &at)
    {
        int stage = turn % STAGES, query = at.tile * ROWS;
        staying stay;
        if (KIND == BENT && g.dropped)
            stay = draw(m, g, w, at);
        wgmma_wait<1>();
        wgmma_hold(w.weights);
        if (KIND == BENT && g.slopes)
            weigh_leaning(m, g, w, m.lse[stage], at);
        else
            in::weigh_columns(w.weights, m.lse[stage], g);
        if (is_cut(m, g, w.key, query))
            mask(m, g, w, query);
        wgmma_wait<0>();
        wgmma_hold(w.slopes);
        if (KIND == BENT && g.dropped)
            slope_dropped(g, w, m.delta[stage], stay);
        else
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
        differentiate(m, g, w, turn, at);
    }

    static __device__ __forceinline__ void consume_queries(memory &m, const backward_arguments &g,
                                                           of_keys &w, place at)
    {
        int turns = turns_from(g, at);
        place behind = at;
        ask_scores(m, w, 0);
        differentiate(m, g, w, 0, at);
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
        place at = first_place(m, g, key, kv_head);
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
        if (KIND == PLAIN) {
            in::store(w.dv, g.dv, kv_head, mine, g.keys, 1);
            in::store(w.dk, g.dk, kv_head, mine, g.keys, g.scale);
        } else {
            long long to = k_at(g, m.s, kv_head, 0);
            in::put(w.dv, (unsigned short *)g.dv + to, g.k_row, mine, m.s.keys, g.kept);
            in::put(w.dk, (unsigned short *)g.dk + to, g.k_row, mine, m.s.keys, g.scale);
        }
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
    /* As produce_queries, of sequences of any length. */
    static __device__ __forceinline__ void produce_ragged(memory &m, const backward_arguments &g,
                                                          int key, int kv_head)
    {
        const sequence s = m.s;
        place at = ragged_place(s, g, key, kv_head);
        barrier_arrive_expecting(&m.kept_full, sizeof m.kept);
        for (int i = 0; i < in::BOXES; i++)
            for (int half = 0; half < KEPT; half += BOX) {
                load_ragged_box(m.kept[0][i] + half * LINE, &g.k_map, i * 64, key + half, kv_head,
                                (int)s.k_first, s.visible, &m.kept_full);
                load_ragged_box(m.kept[1][i] + half * LINE, &g.v_map, i * 64, key + half, kv_head,
                                (int)s.k_first, s.visible, &m.kept_full);
            }
        for (int turn = 0, turns = turns_from(g, at); turn < turns; turn++, at.next()) {
            int stage = turn % STAGES, row = at.tile * ROWS;
            const float *rows = row_at(g, s, at.head, row);
            barrier_wait(&m.empty[stage], (turn / STAGES % 2) ^ 1);
            barrier_arrive_expecting(&m.full[stage],
                                     sizeof m.passing[0] + sizeof m.lse[0] + sizeof m.delta[0]);
            for (int i = 0; i < in::BOXES; i++)
                for (int n = 0; n < ROWS; n += BOX) {
                    load_ragged_box(m.passing[stage][0][i] + n * LINE, &g.q_map, i * 64, row + n,
                                    at.head, (int)s.q_first, s.queries, &m.full[stage]);
                    load_ragged_box(m.passing[stage][1][i] + n * LINE, &g.grad_map, i * 64, row + n,
                                    at.head, (int)s.q_first, s.queries, &m.full[stage]);
                }
            bulk_load(m.lse[stage], rows, sizeof m.lse[0], &m.full[stage]);
            bulk_load(m.delta[stage], rows + g.rows, sizeof m.delta[0], &m.full[stage]);
        }
    }

    /* A block's keys and their head, of packed sequences, of all of them. */
    static __device__ __forceinline__ sequence find(const backward_arguments &g, int &key,
                                                    int &head)
    {
        if (!g.q_begin) {
            int number = head / g.heads;
            head -= number * g.heads;
            return sequence_of(g, number);
        }
        int number = sequence_with(g.k_begin, g.batch, key / KEPT);
        key -= first_tile_of((const int *)g.k_begin, number) * KEPT;
        return sequence_of(g, number);
    }
    static __device__ __forceinline__ void run(const backward_arguments &g)
    {
        extern __shared__ __align__(1024) unsigned char shared[];
        memory &m = *(memory *)shared;
        /* Section by section; of one, the first keys, which see most under a causal mask. */
        bool packed = KIND != PLAIN && g.q_begin;
        int tiles = packed ? g.key_tiles : (g.keys + KEPT - 1) / KEPT;
        int before = blockIdx.x / (SECTION * tiles) * SECTION, at = blockIdx.x - before * tiles;
        int heads = min((packed ? 1 : g.batch) * g.heads - before, SECTION);
        int key = at / heads * KEPT, head = before + at % heads, group = threadIdx.x / 128;
        if (KIND != PLAIN) {
            sequence s = find(g, key, head);
            if (key >= s.keys)
                return;
            if (threadIdx.x == 0)
                m.s = s;
        }
        if (threadIdx.x == 0)
            make_barriers(m);
        __syncthreads();
        if (group == CONSUMERS) {
            registers_lower_to<24>();
            if (threadIdx.x / 32 == 4 * CONSUMERS && elect_one()) {
                if (KIND == PLAIN)
                    in::produce_queries(m, g, key, head);
                else
                    produce_ragged(m, g, key, head);
            }
        } else {
            registers_raise_to<240>();
            consume(m, g, key, head, group);
        }
    }

    /* The sums of 64 rows, times scale, to dQ. */
    static __device__ __forceinline__ void take_sums(float (&sums)[DIM / 2], const float *from)
    {
        int thread = threadIdx.x;
#pragma unroll
        for (int i = 0; i < DIM / 8; i++) {
            float4 four =
                ((const float4 *)from)[i / 8 * 1024 + thread / 32 * 256 + i % 8 * 32 + thread % 32];
            sums[4 * i] = four.x;
            sums[4 * i + 1] = four.y;
            sums[4 * i + 2] = four.z;
            sums[4 * i + 3] = four.w;
        }
    }
    static __device__ __forceinline__ void round(const backward_arguments &g)
    {
        int row = blockIdx.x * 64, head = blockIdx.y, thread = threadIdx.x;
        float sums[DIM / 2];
        if (KIND == PLAIN) {
            take_sums(sums, sums_of(g, head, row));
            in::store(sums, g.dq, head, row + thread / 32 * 16 + thread % 32 / 4, g.queries,
                      g.scale);
            return;
        }
        sequence s = sequence_of_row(g, row, head);
        if (row >= s.queries)
            return;
        take_sums(sums, ragged_sums(g, s, head, row));
        in::put(sums, (unsigned short *)g.dq + q_at(g, s, head, 0), g.q_row,
                row + thread / 32 * 16 + thread % 32 / 4, s.queries, g.scale);
    }
};

/* A piece of delta: eight numbers of dO and O each. */
template <class type>
static __device__ __forceinline__ float multiply_eight(const backward_arguments &g, long long at)
{
    uint4 grad = *(const uint4 *)((const unsigned short *)g.grad + at);
    uint4 o = *(const uint4 *)((const unsigned short *)g.o + at);
    unsigned a[4] = {grad.x, grad.y, grad.z, grad.w}, b[4] = {o.x, o.y, o.z, o.w};
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        float a_low, a_high, b_low, b_high;
        type::unpack(a[i], a_low, a_high);
        type::unpack(b[i], b_low, b_high);
        sum = fmaf(a_low, b_low, fmaf(a_high, b_high, sum));
    }
    return sum;
}

#endif
