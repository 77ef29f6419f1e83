/*
 * ranges.cu: backward in two launches. First a block for each SM takes a range of the table's rows, looks
 * at all numbers, and sorts its own by counting in shared memory: each warp takes a stretch of the tokens,
 * so that lists come out in the order of tokens, and nobody sorts them. It knows how many tokens lie
 * before its range, and so needs no other block to know where its lists go. The second launch overlaps
 * the first; its blocks write ROWS rows each, and each knows its tokens after two loads.
 *
 * A row with more than LONG tokens is added in parts of PART tokens, by blocks of their own, of which the
 * last one to finish adds the parts in their order.
 */
// arch: sm_90
#include "sums.h"

#define BLOCK 1024 // threads of lists
#define WARPS (BLOCK / 32)
#define LONG 64 // and below: embedding.c has the same
#define PART 128 // at least 2 LONG - 1: a list of more than LONG then has a slot for each part
#define SUM_BLOCK 256 // most threads of sum; five blocks an SM take 48 registers

/* A part of a long row: parts lie side by side, from the slot of the list's begin on. */
struct part {
    int row, begin, count, number; // begin and count: of the whole list; count 0: no part
};
struct lists {
    int *begin;        // [vocab + 1]: where each row's list begins
    int *order;        // [tokens]: by row, then by token
    part *parts;       // [slots]: tokens / LONG + 1 of them
    unsigned *arrived; // [slots][slices]: of a row's parts, at its first slot
    float *sums;       // [slots][dim]
};
static __device__ __forceinline__ int slots_of(long long tokens)
{
    return (int)(tokens / LONG) + 1;
}
static __device__ __forceinline__ long long whole_vectors(long long words)
{
    return (words + 3) / 4 * 4;
}
static __device__ __forceinline__ lists lists_in(int *at, long long tokens, long long vocab, int slices)
{
    long long slots = slots_of(tokens);
    lists l;
    l.begin = at;
    l.order = l.begin + whole_vectors(vocab + 1);
    l.parts = (part *)(l.order + whole_vectors(tokens));
    l.arrived = (unsigned *)(l.parts + slots);
    l.sums = (float *)(l.arrived + whole_vectors(slots * slices));
    return l;
}

/* What a block of `lists` knows of its rows. */
struct range {
    long long first, end; // rows
    int rows, most;       // how many; of any block
    int *next;            // [WARPS][most]: counts, then where a warp's next token of a row goes
};

/* All tokens, 32 at a time, each warp its stretch in order: each(token, row of the range, is it in it). */
template <class I, class Each>
static __device__ __forceinline__ void look_at_all(const I *ids, long long tokens, const range &r,
                                                   Each each)
{
    const int ahead = 8;
    long long steps = (tokens + BLOCK - 1) / BLOCK, lane = threadIdx.x % 32;
    long long from = threadIdx.x / 32 * steps * 32, end = min(from + steps * 32, tokens);
#pragma unroll 1
    for (; from < end; from += ahead * 32) {
        I id[ahead];
#pragma unroll
        for (int k = 0; k < ahead; k++)
            id[k] = from + k * 32 + lane < end ? ids[from + k * 32 + lane] : -1;
#pragma unroll
        for (int k = 0; k < ahead; k++)
            each((int)(from + k * 32 + lane), (long long)id[k] - r.first,
                 id[k] >= r.first && id[k] < r.end);
    }
}

/* Exclusive, over the block; *all gets the sum. */
static __device__ __forceinline__ int sum_before(int x, int *all)
{
    __shared__ int of_warp[WARPS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, end = x;
    for (int distance = 1; distance < 32; distance *= 2) {
        int below = __shfl_up_sync(0xffffffff, end, distance);
        end += lane >= distance ? below : 0;
    }
    __syncthreads(); // of_warp may still be read
    if (lane == 31)
        of_warp[warp] = end;
    __syncthreads();
    int before = 0, sum = 0;
    for (int k = 0; k < WARPS; k++) {
        before += k < warp ? of_warp[k] : 0;
        sum += of_warp[k];
    }
    *all = sum;
    return before + end - x;
}

/* Tokens of each row by warp; gives the tokens of all rows before the range. */
template <class I>
static __device__ __forceinline__ int count_tokens(const I *ids, long long tokens, const range &r)
{
    int warp = threadIdx.x / 32, below = 0, all;
    for (int i = threadIdx.x; i < WARPS * r.most; i += BLOCK)
        r.next[i] = 0;
    __syncthreads();
    look_at_all(ids, tokens, r, [&](int, long long row, bool mine) {
        below += row < 0 && row >= -r.first;
        if (mine)
            atomicAdd(&r.next[warp * r.most + row], 1);
    });
    sum_before(below, &all); // and all have counted
    return all;
}

/* The slots that begin within the range's tokens, of which `before` come before it. */
static __device__ __forceinline__ void clear_parts(lists l, long long tokens, int before, int all,
                                                   int slices)
{
    long long first = before / LONG, end = (before + all) / LONG;
    if (blockIdx.x == gridDim.x - 1)
        end = slots_of(tokens);
    for (long long i = first + threadIdx.x; i < end; i += BLOCK)
        l.parts[i] = part{0, 0, 0, 0};
    for (long long i = first * slices + threadIdx.x; i < end * slices; i += BLOCK)
        l.arrived[i] = 0;
    __syncthreads();
}

/* Where each row's list begins, and within it each warp's tokens. A thread has a row. */
static __device__ __forceinline__ void place_lists(const range &r, lists l, long long tokens, int before,
                                                   int slices)
{
    int row = threadIdx.x, count = 0, all;
    if (row < r.rows)
        for (int w = 0; w < WARPS; w++) {
            int of_warp = r.next[w * r.most + row];
            r.next[w * r.most + row] = count;
            count += of_warp;
        }
    int begin = before + sum_before(count, &all);
    clear_parts(l, tokens, before, all, slices);
    if (row < r.rows) {
        for (int w = 0; w < WARPS; w++)
            r.next[w * r.most + row] += begin;
        l.begin[r.first + row] = begin;
        for (int k = 0; count > LONG && k * PART < count; k++)
            l.parts[begin / LONG + k] = part{(int)r.first + row, begin, count, k};
    }
    if (row == 0 && blockIdx.x == gridDim.x - 1)
        l.begin[r.end] = before + all;
    __syncthreads();
}

template <class I>
static __device__ __forceinline__ void fill_lists(const I *ids, long long tokens, const range &r,
                                                  int *order)
{
    int *next = r.next + threadIdx.x / 32 * r.most;
    look_at_all(ids, tokens, r, [&](int token, long long row, bool mine) {
        unsigned all = __ballot_sync(0xffffffff, mine);
        if (!mine)
            return;
        unsigned same = __match_any_sync(all, (int)row);
        int rank = __popc(same & lanes_below()), at = next[row] + rank;
        order[at] = token;
        __syncwarp(all); // everyone has read
        if (rank == 0)
            next[row] = at + __popc(same);
        __syncwarp(all);
    });
}

template <class I>
static __device__ __forceinline__ void make_lists(const I *ids, lists l, long long tokens,
                                                  long long vocab, int most, int slices)
{
    extern __shared__ int counts[];
    range r;
    r.first = (long long)blockIdx.x * most;
    r.end = min(r.first + most, vocab);
    r.rows = (int)(r.end - r.first);
    r.most = most;
    r.next = counts;
    int before = count_tokens(ids, tokens, r);
    place_lists(r, l, tokens, before, slices);
    fill_lists(ids, tokens, r, l.order);
}

/* All parts of a row, in their order. */
template <class T>
static __device__ __forceinline__ void add_parts(const float *sums, int parts, columns c,
                                                 float (&sum)[PER<T>])
{
    if (c.whole && c.first >= c.dim)
        return;
#pragma unroll 4
    for (int i = 0; i < parts; i++, sums += c.dim) {
        if (c.whole) {
#pragma unroll
            for (int k = 0; k < PER<T>; k += 4) {
                float4 v = load_once((const float4 *)(sums + c.first + k));
                sum[k] += v.x, sum[k + 1] += v.y, sum[k + 2] += v.z, sum[k + 3] += v.w;
            }
            continue;
        }
#pragma unroll
        for (int k = 0; k < PER<T>; k++)
            if (c.first + k * c.step < c.dim)
                sum[k] += sums[c.first + k * c.step];
    }
}

template <class T>
static __device__ __forceinline__ void do_part(const T *dout, T *dtable, lists l, int slot, int slice,
                                               int slices, columns c)
{
    __shared__ bool is_last;
    part p = l.parts[slot];
    if (p.count == 0)
        return;
    int parts = (p.count + PART - 1) / PART, first = slot - p.number;
    float sum[PER<T>] = {}, *to = l.sums + slot * c.dim;
    add_rows(dout, l.order + p.begin + p.number * PART, min(PART, p.count - p.number * PART), c, sum);
    if (c.whole && c.first < c.dim) {
#pragma unroll
        for (int k = 0; k < PER<T>; k += 4)
            *(float4 *)(to + c.first + k) = make_float4(sum[k], sum[k + 1], sum[k + 2], sum[k + 3]);
    } else {
#pragma unroll
        for (int k = 0; k < PER<T>; k++)
            if (c.first + k * c.step < c.dim)
                to[c.first + k * c.step] = sum[k];
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        is_last = atomicAdd(&l.arrived[first * slices + slice], 1u) == parts - 1u;
    __syncthreads();
    if (!is_last)
        return;
    __threadfence();
#pragma unroll
    for (int k = 0; k < PER<T>; k++)
        sum[k] = 0;
    add_parts<T>(l.sums + first * c.dim, parts, c, sum);
    store_columns(dtable + p.row * c.dim, c, sum);
}

/* ROWS rows from `row` on, of which long ones are left out. */
template <class T>
static __device__ __forceinline__ void do_rows(const T *dout, T *dtable, lists l, long long row,
                                               long long vocab, columns c)
{
    few f;
    int begin[ROWS + 1];
#pragma unroll
    for (int k = 0; k <= ROWS; k++)
        begin[k] = l.begin[min(row + k, vocab)];
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        f.begin[k] = begin[k];
        f.count[k] = begin[k + 1] - begin[k];
        bool any = f.count[k] == 1 || f.count[k] == 2;
        f.one[k] = any ? l.order[begin[k]] : 0;
        f.other[k] = any ? l.order[begin[k + 1] - 1] : 0;
    }
    if (c.whole && c.first < c.dim)
        write_few(dout, dtable, f, row, vocab, c);
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        if (row + k >= vocab || f.count[k] > LONG || (c.whole && f.count[k] <= 2))
            continue;
        float sum[PER<T>] = {};
        add_rows(dout, l.order + f.begin[k], f.count[k], c, sum);
        store_columns(dtable + (row + k) * c.dim, c, sum);
    }
}

/* Blocks for all slots of parts come first, then those for rows; `slices` of them side by side. */
template <class T>
static __device__ __forceinline__ void sum_lists(const T *dout, T *dtable, int *workspace,
                                                 long long tokens, long long vocab, long long dim,
                                                 int slices)
{
    lists l = lists_in(workspace, tokens, vocab, slices);
    unsigned item = blockIdx.x / slices, slice = blockIdx.x - item * slices, slots = slots_of(tokens);
    columns c = columns_of<T>((long long)slice * blockDim.x * PER<T>, threadIdx.x, blockDim.x, dim,
                              in_vectors(dout, dtable, dim));
    cudaGridDependencySynchronize();
    if (item < slots)
        do_part(dout, dtable, l, item, slice, slices, c);
    else
        do_rows(dout, dtable, l, (long long)(item - slots) * ROWS, vocab, c);
}

#define MAKE_LISTS(suffix, I)                                                                      \
    extern "C" __global__ void __launch_bounds__(BLOCK)                                            \
        lists_##suffix(const I *ids, int *workspace, long long tokens, long long vocab, int most,  \
                       int slices)                                                                 \
    {                                                                                              \
        cudaTriggerProgrammaticLaunchCompletion();                                                 \
        make_lists(ids, lists_in(workspace, tokens, vocab, slices), tokens, vocab, most, slices);  \
    }
MAKE_LISTS(i32, int)
MAKE_LISTS(i64, long long)

#define MAKE_SUM(suffix, T)                                                                        \
    extern "C" __global__ void __launch_bounds__(SUM_BLOCK, 5)                                     \
        sum_##suffix(const T *dout, T *dtable, int *workspace, long long tokens, long long vocab,  \
                     long long dim, int slices)                                                    \
    {                                                                                              \
        sum_lists(dout, dtable, workspace, tokens, vocab, dim, slices);                            \
    }
MAKE_SUM(f32, float)
MAKE_SUM(f16, f16)
MAKE_SUM(bf16, bf16)
