/*
 * whole_search.cu: a whole breadth-first search in one cooperative launch. All blocks are resident
 * and wait for each other after each level, so the host need not ask how large the next frontier
 * is: a level costs a barrier in place of launches and a copy back. The frontiers are in two lists
 * that take turns; a warp takes a vertex.
 */
// arch: sm_75
#include "frontier.h" // looks_unseen, claim, append
#define BLOCK 256 // tune: 128 256 512
#define BLOCKS_PER_SM 4 // tune: 1 2 4

struct search_state {
    unsigned arrived;  // at barriers of the grid, since the launch
    unsigned count[3]; // of the frontiers of three levels in a row: read, filled, made empty
};

// A barrier of all blocks. target: the arrivals it waits for, counted up from barrier to barrier;
// it may wrap around.
__device__ __forceinline__ void sync_grid(unsigned *arrived, unsigned *target)
{
    __syncthreads();
    *target += gridDim.x;
    if (threadIdx.x == 0) {
        fence_acq_rel();
        atomicAdd(arrived, 1);
        while ((int)(load_acquire(arrived) - *target) < 0)
            ;
        fence_acq_rel();
    }
    __syncthreads();
}

// By one warp.
__device__ __forceinline__ void expand_vertex(const int *offsets, const int *neighbours, int vertex,
                                              int level, int *distance, int *next,
                                              unsigned *next_count)
{
    int first = __ldg(offsets + vertex), end = __ldg(offsets + vertex + 1);
    for (long long e = first; e < end; e += 32) { // all lanes stay, for append
        bool mine = e + threadIdx.x % 32 < end;
        int neighbour = mine ? __ldg(neighbours + e + threadIdx.x % 32) : 0;
        bool found = mine && looks_unseen(distance, neighbour) && claim(distance, neighbour, level);
        append(found, neighbour, next, next_count);
    }
}

// state is zero at the start; list has room for two frontiers.
extern "C" __global__ void __launch_bounds__(BLOCK)
    search(const int *offsets, const int *neighbours, const int *source, long long vertices,
           int *distance, int *list, search_state *state)
{
    unsigned target = 0;
    long long me = (long long)blockIdx.x * BLOCK + threadIdx.x;
    unsigned all_threads = gridDim.x * BLOCK;
#pragma unroll 1
    for (long long v = me; v < vertices; v += all_threads)
        distance[v] = v == *source ? 0 : UNSEEN;
    if (me == 0) {
        list[0] = *source;
        state->count[0] = 1;
    }
    sync_grid(&state->arrived, &target);
    for (int level = 0;; level++) {
        unsigned count = load_relaxed(&state->count[level % 3]);
        if (count == 0)
            break;
        if (me == 0)
            state->count[(level + 2) % 3] = 0;
        const int *frontier = list + level % 2 * vertices;
        int *next = list + (level + 1) % 2 * vertices;
        for (unsigned i = me / 32; i < count; i += all_threads / 32)
            expand_vertex(offsets, neighbours, frontier[i], level + 1, distance, next,
                          &state->count[(level + 1) % 3]);
        sync_grid(&state->arrived, &target);
    }
}
