/*
 * edge_balanced.cu: a step of a breadth-first search in which every block gets the same number of
 * edges, whichever vertices they belong to. Degrees of the frontier are summed first; the ends of
 * the vertices' lists, merged with the edges, are then cut into equal tiles (as in spmv). In a tile
 * each thread finds the vertices of its edges by a search in shared memory, all loads of a thread
 * are in flight together, and found vertices leave the block side by side, with one atomic a tile.
 */
// arch: sm_75
#include "frontier.h" // looks_unseen, claim; start, the first of the four kernels
#define BLOCK 256 // tune: 128 256
#define PER_THREAD 8 // tune: 4 8
#define ITEMS (BLOCK * PER_THREAD) // list ends and edges of a tile
#define GROUP 256                  // vertices whose degrees a block sums

// Before the step: where each list starts and ends -----------------------------------------------

// Inclusive sums over the block's threads. A barrier.
__device__ __forceinline__ int scan_block(int value, int *of_warp)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, before = 0;
    for (int distance = 1; distance < 32; distance *= 2) {
        int below = __shfl_up_sync(0xffffffff, value, distance);
        value += lane >= distance ? below : 0;
    }
    if (lane == 31)
        of_warp[warp] = value;
    __syncthreads();
    for (int i = 0; i < warp; i++)
        before += of_warp[i];
    return before + value;
}

// For each vertex of the frontier: where its list starts, and where it ends among its group's.
extern "C" __global__ void __launch_bounds__(GROUP)
    sum_degrees(const int *offsets, const int *frontier, long long count, int *starts, int *ends,
                int *totals)
{
    __shared__ int of_warp[GROUP / 32];
    long long i = (long long)blockIdx.x * GROUP + threadIdx.x;
    int first = 0, end = 0;
    if (i < count) {
        int vertex = frontier[i];
        first = __ldg(offsets + vertex);
        end = __ldg(offsets + vertex + 1);
    }
    int sum = scan_block(end - first, of_warp);
    if (i < count) {
        starts[i] = first;
        ends[i] = sum;
    }
    if (threadIdx.x == GROUP - 1)
        totals[blockIdx.x] = sum;
}

// By one block: each group's total becomes what comes before the group; after the last, the sum of
// all.
extern "C" __global__ void __launch_bounds__(1024) sum_groups(int *totals, long long groups)
{
    __shared__ int of_warp[32], carried;
    int before = 0;
    for (long long first = 0; first < groups; first += 1024) {
        long long i = first + threadIdx.x;
        int total = i < groups ? totals[i] : 0, sum = scan_block(total, of_warp);
        if (i < groups)
            totals[i] = before + sum - total;
        if (threadIdx.x == 1023)
            carried = before + sum;
        __syncthreads();
        before = carried;
        __syncthreads();
    }
    if (threadIdx.x == 0)
        totals[groups] = before;
}

// The step ---------------------------------------------------------------------------------------

struct lists {
    const int *starts, *ends, *totals;
    long long count; // of the frontier
};

// Edges of the frontier up to the end of list i.
__device__ __forceinline__ int end_of(const lists &l, long long i)
{
    if (i < 0)
        return 0;
    return i < l.count ? __ldg(l.ends + i) + __ldg(l.totals + i / GROUP) : 0x7fffffff;
}

// How many lists end before point d of the merge; the whole warp looks at 32 places at a time.
__device__ __forceinline__ long long lists_before(const lists &l, long long edges, long long d)
{
    long long low = d > edges ? d - edges : 0, high = min(d, l.count);
    while (low < high) {
        long long step = (high - low + 31) / 32, at = low + (threadIdx.x % 32 + 1) * step - 1;
        bool ends_before = at < high && end_of(l, at) <= d - at - 1;
        long long passed = __popc(__ballot_sync(0xffffffff, ends_before));
        high = min(high, low + (passed + 1) * step - 1);
        low += passed * step;
    }
    return low;
}

struct shared_state {
    int end[ITEMS + BLOCK];   // of lists, counted from the tile's first edge
    int shift[ITEMS + BLOCK]; // from an edge of the tile to its place in neighbours
    int found[ITEMS];
    unsigned found_count, place;
    long long first_list;
};

// Takes the lists from `list` on that end before point `until`, and one more; returns how many. A
// barrier.
__device__ __forceinline__ int take_lists(shared_state &shared, const lists &l, long long list,
                                          int first_edge, long long until)
{
    int count = 0, more;
    do {
        long long i = list + count + threadIdx.x;
        int end = end_of(l, i), r = count + threadIdx.x;
        shared.end[r] = end - first_edge;
        if (i < l.count)
            shared.shift[r] = __ldg(l.starts + i) - end_of(l, i - 1) + first_edge;
        more = __syncthreads_count(end + i + 1 <= until);
        count += more;
    } while (more == BLOCK);
    return count;
}

// The lowest list that ends after edge p.
__device__ __forceinline__ int list_of(const int *end, int count, int p)
{
    int low = 0, high = count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (end[middle] <= p)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

__device__ __forceinline__ void visit(shared_state &shared, int lists_here, int edges,
                                      const int *neighbours, int level, int *distance)
{
    int neighbour[PER_THREAD];
    bool unseen[PER_THREAD];
#pragma unroll
    for (int k = 0; k < PER_THREAD; k++) {
        int p = threadIdx.x + k * BLOCK;
        neighbour[k] = -1;
        if (p < edges) {
            int at = p + shared.shift[list_of(shared.end, lists_here, p)];
            neighbour[k] = load_stream((const unsigned *)neighbours + at);
        }
    }
#pragma unroll
    for (int k = 0; k < PER_THREAD; k++)
        unseen[k] = neighbour[k] >= 0 && looks_unseen(distance, neighbour[k]);
#pragma unroll
    for (int k = 0; k < PER_THREAD; k++) {
        bool found = unseen[k] && claim(distance, neighbour[k], level);
        append(found, neighbour[k], shared.found, &shared.found_count);
    }
}

// Moves what was found to the next frontier, in one piece.
__device__ __forceinline__ void flush(shared_state &shared, int *next, unsigned *next_count)
{
    __syncthreads();
    unsigned count = shared.found_count;
    if (threadIdx.x == 0 && count > 0)
        shared.place = atomicAdd(next_count, count);
    __syncthreads();
    for (unsigned k = threadIdx.x; k < count; k += BLOCK)
        next[shared.place + k] = shared.found[k];
    if (threadIdx.x == 0)
        shared.found_count = 0;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    expand(const int *starts, const int *ends, const int *totals, const int *neighbours,
           long long count, int level, int *distance, int *next, unsigned *next_count)
{
    __shared__ shared_state shared;
    lists l = {starts, ends, totals, count};
    long long edges = totals[(count + GROUP - 1) / GROUP], items = count + edges;
    long long tiles = (items + ITEMS - 1) / ITEMS;
    long long tile = tiles * blockIdx.x / gridDim.x, last = tiles * (blockIdx.x + 1) / gridDim.x;
    if (threadIdx.x < 32) {
        long long found = lists_before(l, edges, tile * ITEMS);
        if (threadIdx.x == 0) {
            shared.first_list = found;
            shared.found_count = 0;
        }
    }
    __syncthreads();
    long long list = shared.first_list;
    for (; tile < last; tile++) {
        long long until = min(items, (tile + 1) * ITEMS);
        int first_edge = (int)(tile * ITEMS - list);
        int lists_here = take_lists(shared, l, list, first_edge, until);
        list += lists_here;
        visit(shared, lists_here, (int)(until - list) - first_edge, neighbours, level, distance);
        flush(shared, next, next_count);
    }
}
