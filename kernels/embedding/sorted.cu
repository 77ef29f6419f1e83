/*
 * sorted.cu: backward: tokens are listed by their number first, in integers alone; then each row of the
 * table's gradient is written once, by a block that adds its tokens in their order: the same bits in
 * every run.
 *
 *   count     how many tokens each row has; each token takes a slot in its row's list
 *   allocate  where each list begins. Lists lie anywhere, so that a running total is enough
 *   place     tokens into their lists, in any order
 *   arrange   lists longer than LONG, in the order of tokens, by looking at all tokens again
 *   parts     of such lists, PART tokens at a time
 *   sum       rows, ROWS at a time: nothing is zero; one or two tokens are loaded at once for all of them; a
 *             list up to LONG is sorted in shared memory and added; of a longer one the parts are added
 */
// arch: sm_80
#include "sums.h"

#define LONG 256   // and below: embedding.c has the same
#define PART 256
#define ARRANGE 1024 // threads

struct lists {
    int *count, *begin, *part; // [vocab]: tokens of a row, where its list is, its first part if it is long
    int *slot, *order;         // [tokens]
    int *part_row, *part_from; // [parts]
    int *long_row;
    int *used; // tokens in lists, parts, long rows
    float *sums; // [parts][dim]
};
/* In the workspace, which begins at `at`. */
static __device__ __forceinline__ lists lists_in(int *at, long long tokens, long long vocab)
{
    long long parts = tokens / PART + tokens / LONG;
    lists l;
    l.used = at;
    l.count = at + 4;
    l.begin = l.count + vocab;
    l.part = l.begin + vocab;
    l.slot = l.part + vocab;
    l.order = l.slot + tokens;
    l.part_row = l.order + tokens;
    l.part_from = l.part_row + parts;
    l.long_row = l.part_from + parts;
    l.sums = (float *)(at + (l.long_row + tokens / LONG - at + 3) / 4 * 4);
    return l;
}

template <class I>
static __device__ __forceinline__ void count_tokens(const I *ids, lists l, long long tokens,
                                                    long long vocab)
{
    long long token = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (token < tokens && is_known(ids[token], vocab))
        l.slot[token] = atomicAdd(&l.count[ids[token]], 1);
}

/* One addition for each warp. */
static __device__ __forceinline__ void allocate_lists(lists l, long long vocab)
{
    long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    int count = row < vocab ? l.count[row] : 0, end = count, lane = threadIdx.x % 32, base = 0;
    for (int distance = 1; distance < 32; distance *= 2) {
        int below = __shfl_up_sync(0xffffffff, end, distance);
        end += lane >= distance ? below : 0;
    }
    if (lane == 31 && end > 0)
        base = atomicAdd(&l.used[0], end);
    base = __shfl_sync(0xffffffff, base, 31);
    if (row >= vocab)
        return;
    l.begin[row] = base + end - count;
    if (count <= LONG)
        return;
    int parts = (count + PART - 1) / PART, first = atomicAdd(&l.used[1], parts);
    l.part[row] = first;
    l.long_row[atomicAdd(&l.used[2], 1)] = (int)row;
    for (int k = 0; k < parts; k++) {
        l.part_row[first + k] = (int)row;
        l.part_from[first + k] = k * PART;
    }
}

template <class I>
static __device__ __forceinline__ void place_tokens(const I *ids, lists l, long long tokens,
                                                    long long vocab)
{
    long long token = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (token < tokens && is_known(ids[token], vocab))
        l.order[l.begin[ids[token]] + l.slot[token]] = (int)token;
}

/* A block for each long list, as many as there could be. */
template <class I>
static __device__ __forceinline__ void arrange_list(const I *ids, lists l, long long tokens)
{
    __shared__ int of_warp[ARRANGE / 32];
    if ((int)blockIdx.x >= l.used[2])
        return;
    int row = l.long_row[blockIdx.x], lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int *to = l.order + l.begin[row];
#pragma unroll 1
    for (long long first = 0; first < tokens; first += ARRANGE) {
        long long token = first + threadIdx.x;
        bool mine = token < tokens && ids[token] == row;
        unsigned votes = __ballot_sync(0xffffffff, mine);
        if (lane == 0)
            of_warp[warp] = __popc(votes);
        __syncthreads();
        int before = 0, all = 0;
        for (int k = 0; k < ARRANGE / 32; k++) {
            before += k < warp ? of_warp[k] : 0;
            all += of_warp[k];
        }
        if (mine)
            to[before + __popc(votes & lanes_below())] = (int)token;
        to += all;
        __syncthreads();
    }
}

template <class T>
static __device__ __forceinline__ void add_part(const T *dout, lists l, long long dim)
{
    int part = blockIdx.x;
    if (part >= l.used[1])
        return;
    int row = l.part_row[part], from = l.part_from[part];
    bool whole = in_vectors(dout, dout, dim);
    columns c = columns_of<T>((long long)blockIdx.y * blockDim.x * PER<T>, threadIdx.x, blockDim.x,
                              dim, whole);
    float sum[PER<T>] = {};
    add_rows(dout, l.order + l.begin[row] + from, min(PART, l.count[row] - from), c, sum);
#pragma unroll
    for (int k = 0; k < PER<T>; k++)
        if (c.first + k * c.step < dim)
            l.sums[part * dim + c.first + k * c.step] = sum[k];
}

/* A list of up to LONG, sorted; every thread of the block calls it. */
static __device__ __forceinline__ void sort_list(const int *list, int count, int *raw, int *sorted)
{
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        raw[i] = list[i];
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        int rank = 0;
        for (int k = 0; k < count; k++)
            rank += raw[k] < raw[i];
        sorted[rank] = raw[i];
    }
    __syncthreads();
}

static __device__ __forceinline__ few find_few(lists l, long long row, long long vocab)
{
    few f;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        f.count[r] = row + r < vocab ? l.count[row + r] : 0;
        f.begin[r] = row + r < vocab ? l.begin[row + r] : 0;
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        bool any = f.count[r] == 1 || f.count[r] == 2;
        int first = any ? l.order[f.begin[r]] : 0;
        int second = any ? l.order[f.begin[r] + f.count[r] - 1] : 0;
        f.one[r] = min(first, second);
        f.other[r] = max(first, second);
    }
    return f;
}
/* Any row, by itself; every thread of the block calls it. */
template <class T>
static __device__ __forceinline__ void sum_row(const T *dout, T *dtable, lists l, long long row,
                                               int count, int begin, columns c)
{
    __shared__ int raw[LONG], sorted[LONG];
    float sum[PER<T>] = {};
    if (count > LONG) {
        int first = l.part[row], parts = (count + PART - 1) / PART;
#pragma unroll 4
        for (int p = first; p < first + parts; p++)
#pragma unroll
            for (int k = 0; k < PER<T>; k++)
                if (c.first + k * c.step < c.dim)
                    sum[k] += l.sums[p * c.dim + c.first + k * c.step];
    } else if (count > 0) {
        __syncthreads(); // the row before may still be read
        sort_list(l.order + begin, count, raw, sorted);
        add_rows(dout, sorted, count, c, sum);
    }
    store_columns(dtable + row * c.dim, c, sum);
}

template <class T>
static __device__ __forceinline__ void sum_rows(const T *dout, T *dtable, lists l, long long vocab,
                                                long long dim)
{
    long long row = (long long)blockIdx.x * ROWS;
    columns c = columns_of<T>((long long)blockIdx.y * blockDim.x * PER<T>, threadIdx.x, blockDim.x,
                              dim, in_vectors(dout, dtable, dim));
    few f = find_few(l, row, vocab);
    if (c.whole && c.first < dim)
        write_few(dout, dtable, f, row, vocab, c);
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        if (row + r < vocab && (!c.whole || f.count[r] > 2))
            sum_row(dout, dtable, l, row + r, f.count[r], f.begin[r], c);
}

extern "C" __global__ void allocate(int *workspace, long long tokens, long long vocab)
{
    allocate_lists(lists_in(workspace, tokens, vocab), vocab);
}
#define MAKE_LISTS(suffix, I)                                                                      \
    extern "C" __global__ void count_##suffix(const I *ids, int *workspace, long long tokens,      \
                                              long long vocab)                                     \
    {                                                                                              \
        count_tokens(ids, lists_in(workspace, tokens, vocab), tokens, vocab);                      \
    }                                                                                              \
    extern "C" __global__ void place_##suffix(const I *ids, int *workspace, long long tokens,      \
                                              long long vocab)                                     \
    {                                                                                              \
        place_tokens(ids, lists_in(workspace, tokens, vocab), tokens, vocab);                      \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(ARRANGE)                                          \
        arrange_##suffix(const I *ids, int *workspace, long long tokens, long long vocab)          \
    {                                                                                              \
        arrange_list(ids, lists_in(workspace, tokens, vocab), tokens);                             \
    }
MAKE_LISTS(i32, int)
MAKE_LISTS(i64, long long)

/* sum: five blocks an SM take 48 registers, six spill ten times as much. */
#define MAKE_SUMS(suffix, T)                                                                       \
    extern "C" __global__ void __launch_bounds__(256)                                              \
        parts_##suffix(const T *dout, int *workspace, long long tokens, long long vocab,           \
                       long long dim)                                                              \
    {                                                                                              \
        add_part(dout, lists_in(workspace, tokens, vocab), dim);                                   \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(256, 5)                                           \
        sum_##suffix(const T *dout, T *dtable, int *workspace, long long tokens, long long vocab,  \
                     long long dim)                                                                \
    {                                                                                              \
        sum_rows(dout, dtable, lists_in(workspace, tokens, vocab), vocab, dim);                    \
    }
MAKE_SUMS(f32, float)
MAKE_SUMS(f16, f16)
MAKE_SUMS(bf16, bf16)
