/*
 * bulk.cu: one pass as a pipeline whose steps never wait for one another's latency. A block stays
 * on its SM and its warps have roles: one thread takes tiles by tickets and fetches them by bulk
 * copies, STAGES ahead; adders announce a tile's sum as soon as the tile has arrived; a gatherer
 * adds up what was announced since the block's last tile; writers scan the tile and store it.
 * mbarriers pass a stage on from role to role, so that loads never stop. A cooperative launch has
 * all blocks on the GPU at once; clear zeroes the ticket and the tiles' states beforehand.
 */
// arch: sm_90
#include "bulk.h" // barrier_wait, barrier_arrive ..: mbarriers; bulk_load: a bulk copy
#include "tile.h" // load4, store4, sum4, scan4, warp_scan, warp_sum
#define BLOCK 128 // tune: 64 128 256
#define ROWS 8 // tune: 4 8 16
#define STAGES 12 // tune: 6 8 10 12
#define AHEAD 4 // tune: 3 4 6
#define WARPS (BLOCK / 32) // of adders, and as many of writers
#define CHUNK (128 * ROWS) // a warp's part of a tile
#define TILE ((long long)BLOCK * 4 * ROWS)
#define AT_ONCE 8              // states that a lane of the gatherer asks for together
#define ANNOUNCED (1ull << 32) // set in a tile's state, above the bits of its sum

// Step k of a block uses stage k % STAGES for the (k / STAGES)th time. Each barrier completes one
// phase every time: the tile has arrived, its chunks are summed, what comes before it is known, and
// the stage is free again.
struct tile_stage {
    barrier arrived, added, known, free;
    unsigned tile;
    float before; // what comes before the tile
    float chunk_sum[WARPS];
};

struct scan_work {
    const float *in;
    float *out;
    long long n, tiles;
    unsigned *ticket;
    unsigned long long *states;
    bool aligned, exclusive;
    tile_stage *stages; // [STAGES], and the tiles in them:
    float4 *data;       // [STAGES][TILE / 4]
};

// Bulk copies move whole tiles between arrays that are aligned to 16 bytes.
__device__ __forceinline__ bool is_whole(const scan_work &work, long long tile)
{
    return work.aligned && (tile + 1) * TILE <= work.n;
}

// By one thread. A block's first STAGES tiles are assigned, the others drawn. No more than AHEAD
// are on their way at a time: a longer queue at the memory delays everybody. A tile past the last
// one tells all roles to stop.
__device__ __forceinline__ void fetch_tiles(const scan_work &work)
{
    for (unsigned k = 0;; k++) {
        tile_stage *stage = work.stages + k % STAGES;
        long long tile = k < STAGES ? k * gridDim.x + blockIdx.x
                                    : STAGES * gridDim.x + atomicAdd(work.ticket, 1);
        if (k >= STAGES)
            barrier_wait(&stage->free, (k / STAGES - 1) % 2);
        if (k >= AHEAD)
            barrier_wait(&work.stages[(k - AHEAD) % STAGES].arrived, (k - AHEAD) / STAGES % 2);
        stage->tile = (unsigned)tile;
        if (tile < work.tiles && is_whole(work, tile)) {
            barrier_arrive_expecting(&stage->arrived, 4 * TILE);
            bulk_load(work.data + k % STAGES * (TILE / 4), work.in + tile * TILE, 4 * TILE,
                      &stage->arrived);
        } else {
            barrier_arrive(&stage->arrived);
        }
        if (tile >= work.tiles)
            return;
    }
}

// By each adder: sums its chunk of each tile, after fetching it where no bulk copy could. The first
// adder announces the tile's sum.
__device__ __forceinline__ void add_tiles(const scan_work &work, unsigned warp)
{
    unsigned lane = threadIdx.x % 32;
    for (unsigned k = 0;; k++) {
        tile_stage *stage = work.stages + k % STAGES;
        float4 *chunk = work.data + k % STAGES * (TILE / 4) + warp * (CHUNK / 4) + lane;
        barrier_wait(&stage->arrived, k / STAGES % 2);
        long long tile = stage->tile, at = tile * TILE + warp * CHUNK + lane * 4;
        if (tile >= work.tiles)
            return;
        if (!is_whole(work, tile))
            for (int row = 0; row < ROWS; row++)
                chunk[row * 32] =
                    load4(work.in + at + row * 128, work.n - (at + row * 128), work.aligned);
        float sum = 0;
#pragma unroll
        for (int row = 0; row < ROWS; row++)
            sum += sum4(chunk[row * 32]);
        sum = warp_sum(sum);
        __syncwarp();
        if (lane == 0) {
            stage->chunk_sum[warp] = sum;
            barrier_arrive(&stage->added);
        }
        if (warp == 0) {
            barrier_wait(&stage->added, k / STAGES % 2);
            float all = warp_sum(lane < WARPS ? stage->chunk_sum[lane] : 0);
            if (lane == 0)
                store_relaxed(work.states + tile, ANNOUNCED | __float_as_uint(all));
        }
    }
}

// The sums of the tiles from `first` up to `tile`, by one warp. They were taken sooner, and their
// sums wait for nothing, so they will be announced.
__device__ __forceinline__ float gather(const unsigned long long *states, long long first,
                                        long long tile)
{
    float sum = 0;
    for (first += threadIdx.x % 32; first < tile; first += 32 * AT_ONCE) {
        unsigned long long state[AT_ONCE];
        bool missing;
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            state[i] = first + 32 * i < tile ? 0 : ANNOUNCED;
        do {
            missing = false;
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++)
                if (!(state[i] & ANNOUNCED))
                    state[i] = load_relaxed(states + first + 32 * i);
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++)
                missing |= !(state[i] & ANNOUNCED);
        } while (missing);
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            sum += __uint_as_float((unsigned)state[i]);
    }
    return warp_sum(sum);
}

// By the gatherer: what comes before each of the block's tiles.
__device__ __forceinline__ void gather_sums(const scan_work &work)
{
    float before = 0; // the sum of all tiles before `unseen`
    long long unseen = 0;
    for (unsigned k = 0;; k++) {
        tile_stage *stage = work.stages + k % STAGES;
        barrier_wait(&stage->arrived, k / STAGES % 2);
        long long tile = stage->tile;
        if (tile >= work.tiles)
            return;
        before += gather(work.states, unseen, tile);
        unseen = tile;
        if (threadIdx.x % 32 == 0) {
            stage->before = before;
            barrier_arrive(&stage->known);
        }
    }
}

// By each writer: scans its chunk of each tile and stores it.
__device__ __forceinline__ void write_tiles(const scan_work &work, unsigned warp)
{
    unsigned lane = threadIdx.x % 32;
    for (unsigned k = 0;; k++) {
        tile_stage *stage = work.stages + k % STAGES;
        float4 *chunk = work.data + k % STAGES * (TILE / 4) + warp * (CHUNK / 4) + lane;
        barrier_wait(&stage->arrived, k / STAGES % 2);
        long long tile = stage->tile, at = tile * TILE + warp * CHUNK + lane * 4;
        if (tile >= work.tiles)
            return;
        barrier_wait(&stage->added, k / STAGES % 2);
        float4 v[ROWS];
        float up_to[ROWS], base = warp_sum(lane < warp ? stage->chunk_sum[lane] : 0);
#pragma unroll
        for (int row = 0; row < ROWS; row++) {
            v[row] = chunk[row * 32];
            up_to[row] = warp_scan(sum4(v[row]));
        }
        barrier_wait(&stage->known, k / STAGES % 2);
        base += stage->before;
        __syncwarp();
        if (lane == 0) // all of it is in registers
            barrier_arrive(&stage->free);
#pragma unroll
        for (int row = 0; row < ROWS; row++, at += 128) {
            float below = __shfl_up_sync(0xffffffff, up_to[row], 1);
            store4(work.out + at, work.n - at, work.aligned,
                   scan4(v[row], lane > 0 ? base + below : base, work.exclusive));
            base += __shfl_sync(0xffffffff, up_to[row], 31);
        }
    }
}

extern "C" __global__ void __launch_bounds__(2 * BLOCK + 64)
    scan(const float *in, long long n, float *out, unsigned *ticket, unsigned long long *states,
         int exclusive)
{
    extern __shared__ float4 data[];
    __shared__ tile_stage stages[STAGES];
    scan_work work = {in, out, n, (n + TILE - 1) / TILE, ticket, states, is_aligned(in, out),
                      exclusive != 0, stages, data};
    unsigned warp = threadIdx.x / 32;
    if (threadIdx.x < STAGES) {
        tile_stage *stage = stages + threadIdx.x;
        barrier_make(&stage->arrived, 1);
        barrier_make(&stage->added, WARPS);
        barrier_make(&stage->known, 1);
        barrier_make(&stage->free, WARPS);
        barrier_made();
    }
    __syncthreads();
    if (warp < WARPS)
        add_tiles(work, warp);
    else if (warp < 2 * WARPS)
        write_tiles(work, warp - WARPS);
    else if (warp == 2 * WARPS)
        gather_sums(work);
    else if (elect_one())
        fetch_tiles(work);
}

// Before the scan: the ticket and the states to zero, a 64-bit word each thread.
extern "C" __global__ void clear(unsigned long long *words, long long count)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        words[i] = 0;
}
