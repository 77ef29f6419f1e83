/*
 * merge.cu: row ends and nonzeros are merged into one list of rows + nonzeros items, each row's end
 * after its last nonzero, and every thread gets the same number of items: no matrix can make a
 * thread late. A block reads its row ends and nonzeros, coalesced, into shared memory; its threads
 * find their places there and walk. Pieces of a row in several threads are joined by a segmented
 * scan, those in several blocks by a second kernel (add_carries), always in the same order.
 */
// arch: sm_75
#define BLOCK 256 // tune: 64 128 256
#define PER_THREAD 7 // tune: 5 7 9 11 13
#include "tile.h" /* carries */
#define ITEMS (BLOCK * PER_THREAD)

/* Row ends, then products: together as many as the block has items, and one end more. */
union item {
    int end;
    float product;
};

/* What is summed up of a row that goes on. */
struct __align__(8) piece {
    int row;
    float sum;
};

/* How many rows end among the first d items; those have d minus that many nonzeros. The whole warp
 * searches, at 32 places at a time. */
static __device__ __forceinline__ int rows_before(const int *offsets, long long rows,
                                                  long long nonzeros, long long d)
{
    long long low = d > nonzeros ? d - nonzeros : 0, high = min(d, rows);
    while (low < high) {
        long long step = (high - low + 31) / 32, at = low + (threadIdx.x % 32 + 1) * step - 1;
        bool ends_before = at < high && __ldg(offsets + at + 1) <= d - at - 1;
        long long passed = __popc(__ballot_sync(0xffffffff, ends_before));
        high = min(high, low + (passed + 1) * step - 1);
        low += passed * step;
    }
    return low;
}

/* The same among the block's items, by one thread. */
static __device__ __forceinline__ int find_in_tile(const item *ends, int rows, int nonzeros, int d)
{
    int low = d > nonzeros ? d - nonzeros : 0, high = min(d, rows);
    while (low < high) {
        int middle = (low + high) / 2;
        if (ends[middle].end <= d - middle - 1)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static __device__ __forceinline__ piece add_pieces(piece before, piece p) /* rows ascend */
{
    if (before.row == p.row)
        p.sum = before.sum + p.sum;
    return p;
}

static __device__ __forceinline__ piece piece_below(piece p, unsigned lanes)
{
    piece below = {__shfl_up_sync(0xffffffff, p.row, lanes),
                   __shfl_up_sync(0xffffffff, p.sum, lanes)};
    return below;
}

/* A scan: for each thread, the sum of the pieces before it that belong to the row of the last of
 * them. The last thread's *all is that of the whole block. Contains a barrier. */
static __device__ __forceinline__ piece pieces_before(piece p, piece *all)
{
    __shared__ piece of_warp[BLOCK / 32];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (unsigned lanes = 1; lanes < 32; lanes *= 2) {
        piece below = piece_below(p, lanes);
        if (lane >= lanes)
            p = add_pieces(below, p);
    }
    if (lane == 31)
        of_warp[warp] = p;
    piece before = piece_below(p, 1);
    __syncthreads();
    piece warps = {-1, 0};
    for (unsigned i = 0; i < warp; i++)
        warps = add_pieces(warps, of_warp[i]);
    *all = add_pieces(warps, p);
    return lane == 0 ? warps : add_pieces(warps, before);
}

extern "C" __global__ void __launch_bounds__(BLOCK, 2048 / BLOCK)
multiply(const int *offsets, const int *columns, const float *values, const float *x,
         long long rows, long long nonzeros, float *y, carry *carries)
{
    __shared__ item items[ITEMS + 1];
    __shared__ int place[2]; /* rows that end before the block's first item, and before its end */
    long long d = (long long)blockIdx.x * ITEMS, until = min(d + ITEMS, rows + nonzeros);
    int me = threadIdx.x;
    if (me < 64) {
        int found = rows_before(offsets, rows, nonzeros, me < 32 ? d : until);
        if (me % 32 == 0)
            place[me / 32] = found;
    }
    __syncthreads();
    long long row = place[0], first = d - row;
    int count = place[1] - place[0], all = until - d, nonzero_count = all - count;
    item *ends = items, *products = items + count + 1;
    for (int r = me; r < count; r += BLOCK)
        ends[r].end = __ldg(offsets + row + r + 1) - first;
    if (me == 0)
        ends[count].end = 0x7fffffff;
#pragma unroll
    for (int k = 0; k < PER_THREAD; k++)
        if (me + k * BLOCK < nonzero_count) {
            long long j = first + me + k * BLOCK;
            float of_x = __ldg(x + (int)load_stream((const unsigned *)columns + j));
            products[me + k * BLOCK].product = load_stream(values + j) * of_x;
        }
    __syncthreads();

    /* Walk along my items: a nonzero is added, a row end completes a sum. The first row may have
     * begun in another thread: its sum is kept until that thread's part is known. */
    int at = min(me * PER_THREAD, all), stop = min(at + PER_THREAD, all);
    int first_r = find_in_tile(ends, count, nonzero_count, at), p = at - first_r;
    piece mine = {first_r, 0};
    float first_sum = 0;
    for (; at < stop; at++)
        if (p < ends[mine.row].end) {
            mine.sum += products[p++].product;
        } else {
            if (mine.row == first_r)
                first_sum = mine.sum;
            else
                y[row + mine.row] = mine.sum;
            mine.row++;
            mine.sum = 0;
        }
    piece total, before = pieces_before(mine, &total);
    if (mine.row > first_r)
        y[row + first_r] = before.row == first_r ? before.sum + first_sum : first_sum;
    if (me == BLOCK - 1) {
        bool past_all = row + total.row >= rows;
        carry left = {(int)(past_all ? rows : row + total.row), past_all ? 0 : total.sum};
        carries[blockIdx.x] = left;
    }
}

extern "C" __global__ void __launch_bounds__(256)
add_carries(const carry *carries, long long count, long long rows, float *y)
{
    add_to_rows(carries, count, rows, y);
}
