/*
 * tickets.cu: one pass at nearly the memory's full rate, like scan/tickets.cu. Blocks stay on the
 * GPU and take tiles by tickets, STAGES ahead; cp.async fetches them. A tile is packed in place
 * when it arrives and its count announced at once. The block then turns to the tile before it, adds
 * up the counts announced since its own last tile, and writes what is packed. The first STAGES
 * tiles of each block are assigned, not drawn: a cooperative launch has all blocks on the GPU from
 * the start.
 */
// arch: sm_80
#include "select_rows.h" // kept_of_four, keep_row, write_kept, warp_sum
#define BLOCK 256 // tune: 256 512 1024
#define ROWS 8 // tune: 2 4 8
#define STAGES 2 // tune: 2 3 4
#define WARPS (BLOCK / 32)
#define WARP_TILE (128 * ROWS)
#define TILE ((long long)BLOCK * 4 * ROWS)
#define ANNOUNCED (1ull << 32) // set in a tile's state, above its count

// Where this warp's rows begin in the input.
__device__ __forceinline__ long long first_element(long long tile)
{
    return tile * TILE + threadIdx.x / 32 * WARP_TILE;
}

// Starts the copy of this warp's rows of a tile; stage: [WARP_TILE].
__device__ __forceinline__ void fetch(const float *in, long long n, long long tile, float *stage,
                                      bool aligned)
{
    long long at = first_element(tile) + threadIdx.x % 32 * 4;
    stage += threadIdx.x % 32 * 4;
#pragma unroll
    for (int row = 0; row < ROWS; row++, at += 128, stage += 128) {
        long long left = n - at;
        unsigned bytes = left >= 4 ? 16 : left > 0 ? (unsigned)left * 4 : 0;
        if (aligned) {
            copy_async_16(stage, bytes ? in + at : in, bytes);
        } else {
            for (int k = 0; k < 4; k++)
                stage[k] = k < left ? in[at + k] : 0;
        }
    }
    copy_async_commit();
}

// Packs the warp's rows in place; returns how many elements it keeps.
__device__ __forceinline__ unsigned pack(float *stage, long long left, float threshold)
{
    unsigned count = 0;
    left -= threadIdx.x % 32 * 4;
#pragma unroll
    for (int row = 0; row < ROWS; row++, left -= 128) {
        float4 v = *(const float4 *)(stage + row * 128 + threadIdx.x % 32 * 4);
        count = keep_row(v, kept_of_four(v, left, threshold), stage, count);
    }
    return count;
}

// By warp 0: from the counts of the warps, what comes before each in the tile, and the tile's own
// count, which it announces.
__device__ __forceinline__ void announce(unsigned long long *states, long long tile,
                                         long long tiles, const unsigned *kept_by,
                                         unsigned *warp_before)
{
    unsigned lane = threadIdx.x, mine = lane < WARPS ? kept_by[lane] : 0, up_to = mine;
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        unsigned below = __shfl_up_sync(0xffffffff, up_to, distance);
        up_to += lane >= distance ? below : 0;
    }
    if (lane < WARPS)
        warp_before[lane] = up_to - mine;
    if (lane == 31) {
        warp_before[WARPS] = up_to;
        if (tile < tiles)
            store_relaxed(states + tile, ANNOUNCED | up_to);
    }
}

// The counts of the tiles from `first` up to `tile`: what this warp has read of them.
__device__ __forceinline__ unsigned gather(const unsigned long long *states, long long first,
                                           long long tile)
{
    unsigned sum = 0;
    for (long long other = first + threadIdx.x; other < tile; other += BLOCK) {
        unsigned long long state;
        do
            state = load_relaxed(states + other);
        while (!(state & ANNOUNCED));
        sum += (unsigned)state;
    }
    return warp_sum(sum);
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    compact(const float *in, long long n, float threshold, float *out, long long *total,
            unsigned *ticket, unsigned long long *states)
{
    extern __shared__ float4 memory[]; // [STAGES][TILE / 4]
    __shared__ unsigned kept_by[2][WARPS], warp_before[2][WARPS + 1], gathered[2][WARPS];
    __shared__ unsigned taken[STAGES + 1]; // tiles of the next turns, in a ring
    unsigned thread = threadIdx.x, warp = thread / 32;
    long long tiles = (n + TILE - 1) / TILE, next_unseen = 0;
    long long before = 0; // what is kept before tile next_unseen
    bool aligned = (size_t)in % 16 == 0;
    float *stages = (float *)memory + warp * WARP_TILE;

    if (thread < STAGES)
        taken[thread] = thread * gridDim.x + blockIdx.x;
    __syncthreads();
    for (int i = 0; i < STAGES; i++)
        fetch(in, n, taken[i], stages + i * TILE, aligned);
    copy_async_wait(STAGES - 1);
    __syncwarp();
    long long tile = taken[0];
    unsigned count = pack(stages, n - first_element(tile), threshold), next_count;
    if (thread % 32 == 0)
        kept_by[0][warp] = count;
    __syncthreads();
    if (warp == 0)
        announce(states, tile, tiles, kept_by[0], warp_before[0]);

    for (unsigned turn = 0; tile < tiles; turn++) {
        unsigned even = turn % 2, odd = 1 - even, drawn = (turn + STAGES) % (STAGES + 1);
        float *stage = stages + turn % STAGES * TILE;
        long long following = taken[(turn + 1) % (STAGES + 1)];
        copy_async_wait(STAGES - 2);
        __syncwarp();
        next_count =
            pack(stages + (turn + 1) % STAGES * TILE, n - first_element(following), threshold);
        if (thread % 32 == 0)
            kept_by[odd][warp] = next_count;
        if (thread == 0)
            taken[drawn] = STAGES * gridDim.x + atomicAdd(ticket, 1);
        __syncthreads();
        // First tell, then ask: no count waits for another.
        if (warp == 0)
            announce(states, following, tiles, kept_by[odd], warp_before[odd]);
        unsigned seen = gather(states, next_unseen, tile);
        if (thread % 32 == 0)
            gathered[even][warp] = seen;
        __syncthreads();
        for (int other = 0; other < WARPS; other++)
            before += gathered[even][other];
        write_kept(stage, count, out + before + warp_before[even][warp]);
        fetch(in, n, taken[drawn], stage, aligned);
        before += warp_before[even][WARPS];
        if (tile == tiles - 1 && thread == 0)
            *total = before;
        next_unseen = tile + 1;
        tile = following;
        count = next_count;
    }
    copy_async_wait(0);
}

// Before compact: the ticket and the states to zero, a 64-bit word each thread.
extern "C" __global__ void clear(unsigned long long *words, long long count)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        words[i] = 0;
}
