/*
 * tickets.cu: one pass at nearly the memory's full rate. Blocks stay on the GPU and take tiles by
 * tickets, so that a fast SM takes more of them. Tickets are taken STAGES tiles ahead, and cp.async
 * fetches the tiles. A tile is scanned by itself as soon as it arrives and its sum announced at
 * once, before the block asks for anybody else's, so that no sum waits for another. The block then
 * turns to the tile before it, adds up the sums announced since its own last tile (a few hundred,
 * read together), and writes. The first STAGES tiles of each block are assigned, not drawn: a
 * cooperative launch has all blocks on the GPU from the start.
 */
// arch: sm_80
#include "tile.h" // load4, warp_scan, warp_sum; tile_rows: a tile scanned in registers
#define BLOCK 512 // tune: 256 512 1024
#define ROWS 8 // tune: 2 4 8
#define STAGES 2 // tune: 2 3 4
#define WARPS (BLOCK / 32)
#define WARP_TILE (128 * ROWS)
#define TILE ((long long)BLOCK * 4 * ROWS)
#define ANNOUNCED (1ull << 32) // set in a tile's state, above the bits of its sum

// Where this thread's first row of a tile begins.
__device__ __forceinline__ long long first_element(long long tile)
{
    return tile * TILE + threadIdx.x / 32 * WARP_TILE + threadIdx.x % 32 * 4;
}

// Starts the copy of a tile into a stage. Each thread copies what it will scan itself, so the data
// need no barrier.
__device__ __forceinline__ void fetch(const float *in, long long n, long long tile, float4 *stage,
                                      bool aligned)
{
    long long at = first_element(tile);
#pragma unroll
    for (int i = 0; i < ROWS; i++, at += 128) {
        long long left = n - at;
        unsigned bytes = left >= 4 ? 16 : left > 0 ? (unsigned)left * 4 : 0;
        if (aligned)
            copy_async_16(stage + i * BLOCK, bytes ? in + at : in, bytes);
        else
            stage[i * BLOCK] = load4(in + at, left, false);
    }
    copy_async_commit();
}

// Scans the warp's part of a tile that has arrived; returns its sum.
__device__ __forceinline__ float scan_stage(const float4 *stage, tile_rows<ROWS> *tile)
{
#pragma unroll
    for (int i = 0; i < ROWS; i++)
        tile->row[i] = stage[i * BLOCK];
    return scan_rows(tile);
}

// By warp 0: from the sums of the warps, what comes before each in the tile, and the tile's own
// sum, which it announces.
__device__ __forceinline__ void announce(unsigned long long *states, long long tile,
                                         long long tiles, const float *warp_total,
                                         float *warp_before)
{
    unsigned lane = threadIdx.x;
    float up_to = warp_scan(lane < WARPS ? warp_total[lane] : 0);
    float below = __shfl_up_sync(0xffffffff, up_to, 1);
    if (lane < WARPS)
        warp_before[lane] = lane > 0 ? below : 0;
    if (lane == 31) {
        warp_before[WARPS] = up_to;
        if (tile < tiles)
            store_relaxed(states + tile, ANNOUNCED | __float_as_uint(up_to));
    }
}

// The sums of the tiles from `first` up to `tile`; every thread gets a part of them.
__device__ __forceinline__ float gather(const unsigned long long *states, long long first,
                                        long long tile)
{
    float sum = 0;
    for (long long other = first + threadIdx.x; other < tile; other += BLOCK) {
        unsigned long long state;
        do
            state = load_relaxed(states + other);
        while (!(state & ANNOUNCED));
        sum += __uint_as_float((unsigned)state);
    }
    return sum;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    scan(const float *in, long long n, float *out, unsigned *ticket, unsigned long long *states,
         int exclusive)
{
    extern __shared__ float4 stages[]; // [STAGES][ROWS][BLOCK]
    __shared__ float warp_total[2][WARPS], warp_before[2][WARPS + 1], gathered[2][WARPS];
    __shared__ unsigned taken[STAGES + 1]; // tiles of the next turns, in a ring
    unsigned thread = threadIdx.x, warp = thread / 32;
    long long tiles = (n + TILE - 1) / TILE, next_unseen = 0;
    bool aligned = is_aligned(in, out);
    float4 *mine = stages + thread;
    tile_rows<ROWS> now, next;
    float before = 0; // everything before tile next_unseen

    if (thread < STAGES)
        taken[thread] = thread * gridDim.x + blockIdx.x;
    __syncthreads();
    for (int i = 0; i < STAGES; i++)
        fetch(in, n, taken[i], mine + i * ROWS * BLOCK, aligned);
    copy_async_wait(STAGES - 1);
    float total = scan_stage(mine, &now);
    if (thread % 32 == 0)
        warp_total[0][warp] = total;
    __syncthreads();
    if (warp == 0)
        announce(states, taken[0], tiles, warp_total[0], warp_before[0]);
    long long tile = taken[0];

    for (unsigned turn = 0; tile < tiles; turn++) {
        unsigned even = turn % 2, odd = 1 - even;
        unsigned drawn = (turn + STAGES) % (STAGES + 1), stage = (turn + 1) % STAGES;
        unsigned freed = turn % STAGES; // `now` came from this stage and is in registers
        copy_async_wait(STAGES - 2);
        long long following = taken[(turn + 1) % (STAGES + 1)];
        total = scan_stage(mine + stage * ROWS * BLOCK, &next);
        if (thread % 32 == 0)
            warp_total[odd][warp] = total;
        if (thread == 0)
            taken[drawn] = STAGES * gridDim.x + atomicAdd(ticket, 1);
        __syncthreads();
        // First tell, then ask.
        if (warp == 0)
            announce(states, following, tiles, warp_total[odd], warp_before[odd]);
        float seen = warp_sum(gather(states, next_unseen, tile));
        if (thread % 32 == 0)
            gathered[even][warp] = seen;
        __syncthreads();
        fetch(in, n, taken[drawn], mine + freed * ROWS * BLOCK, aligned);
        for (int other = 0; other < WARPS; other++)
            before += gathered[even][other];
        write_rows(&now, out, first_element(tile), n, before + warp_before[even][warp], aligned,
                   exclusive != 0);
        before += warp_before[even][WARPS];
        next_unseen = tile + 1;
        tile = following;
        now = next;
    }
    copy_async_wait(0);
}

// Before the scan: the ticket and the states to zero, a 64-bit word each thread.
extern "C" __global__ void clear(unsigned long long *words, long long count)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        words[i] = 0;
}
