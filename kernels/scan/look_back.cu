/*
 * look_back.cu: running sums in a single pass over memory, 8 bytes an element: the decoupled
 * look-back of Merrill and Garland. A block takes the next tile of the input, announces the tile's
 * sum, and looks back over the tiles before it, 32 at a time, until it meets one whose whole prefix
 * is known. It waits only for tiles that were taken before its own, so it always finishes.
 *
 * out[i] is the sum of in[0] to in[i], or to in[i - 1] if exclusive. There is one block for each
 * tile; clear zeroes the ticket and the tiles' states beforehand.
 */
// arch: sm_75
#include "device.h" // inline PTX by name. load_stream: a load that takes no place in the L1;
                    // load_relaxed, store_relaxed: of words that other blocks access meanwhile
#define BLOCK 256 // tune: 128 256 512
#define ROWS 8 // tune: 2 4 8
#define WARPS (BLOCK / 32)
#define WARP_TILE (128 * ROWS) // a warp's part of a tile: ROWS rows of 32 lanes x float4
#define TILE (WARPS * WARP_TILE)

// A tile's state is one 64-bit word: what it has announced in the upper half, the bits of a float
// in the lower. Both arrive together, so no fence is needed.
enum {
    NOTHING, // nothing yet
    SUM,     // the sum of the tile
    PREFIX   // the sum of everything up to the tile's end
};

__device__ __forceinline__ unsigned long long make_state(unsigned what, float number)
{
    return (unsigned long long)what << 32 | __float_as_uint(number);
}

// Four neighbours from in[i] on; beyond the end of the input, zeros.
__device__ __forceinline__ float4 load4(const float *in, long long i, long long n, bool aligned)
{
    if (aligned && i + 4 <= n)
        return load_stream((const float4 *)(in + i));
    return make_float4(i < n ? in[i] : 0, i + 1 < n ? in[i + 1] : 0, i + 2 < n ? in[i + 2] : 0,
                       i + 3 < n ? in[i + 3] : 0);
}

__device__ __forceinline__ void store4(float *out, long long i, long long n, bool aligned, float4 v)
{
    const float element[4] = {v.x, v.y, v.z, v.w};
    if (aligned && i + 4 <= n)
        __stcs((float4 *)(out + i), v); // streaming: nobody reads it back
    else
        for (int k = 0; k < 4; k++)
            if (i + k < n)
                out[i + k] = element[k];
}

// The sum of x over this lane and all lanes below it.
__device__ __forceinline__ float warp_scan(float x)
{
    int lane = threadIdx.x % 32;
    for (int distance = 1; distance < 32; distance *= 2) {
        float below = __shfl_up_sync(0xffffffff, x, distance);
        if (lane >= distance)
            x += below;
    }
    return x;
}

// The sum of x over the warp, in every lane.
__device__ __forceinline__ float warp_sum(float x)
{
    for (int distance = 16; distance > 0; distance /= 2)
        x += __shfl_xor_sync(0xffffffff, x, distance);
    return x;
}

// What comes before the tile; called by one whole warp. Lane 0 watches the tile just before, lane 1
// the one before that, and so on. Before tile 0 everything is known: it sums to nothing.
__device__ __forceinline__ float look_back(const unsigned long long *states, long long tile)
{
    int lane = threadIdx.x % 32;
    float before = 0;
    for (long long last = tile - 1;; last -= 32) {
        long long watched = last - lane;
        unsigned long long state;
        do
            state = watched >= 0 ? load_relaxed(states + watched) : make_state(PREFIX, 0);
        while (__any_sync(0xffffffff, state >> 32 == NOTHING));
        unsigned known = __ballot_sync(0xffffffff, state >> 32 == PREFIX);
        // The nearest known prefix covers all the tiles before it: the lanes above add nothing.
        int nearest = known ? __ffs(known) - 1 : 31;
        before += warp_sum(lane <= nearest ? __uint_as_float((unsigned)state) : 0);
        if (known)
            return before;
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    scan(const float *in, long long n, float *out, unsigned *ticket, unsigned long long *states,
         int exclusive)
{
    __shared__ float warp_total[WARPS];
    __shared__ float before_tile;
    __shared__ unsigned taken;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    // By ticket and not by blockIdx.x: blocks may start in any order, and this one must only wait
    // for blocks that have started.
    if (threadIdx.x == 0)
        taken = atomicAdd(ticket, 1);
    __syncthreads();
    long long tile = taken, start = tile * TILE + warp * WARP_TILE + lane * 4;
    bool aligned = ((size_t)in | (size_t)out) % 16 == 0;

    // Load the tile into registers and scan its rows: up_to[row] is the sum of the row up to and
    // including this lane's four elements.
    float4 v[ROWS];
    float up_to[ROWS], total = 0;
#pragma unroll
    for (int row = 0; row < ROWS; row++)
        v[row] = load4(in, start + row * 128, n, aligned);
#pragma unroll
    for (int row = 0; row < ROWS; row++) {
        up_to[row] = warp_scan((v[row].x + v[row].y) + (v[row].z + v[row].w));
        total += __shfl_sync(0xffffffff, up_to[row], 31);
    }
    if (lane == 0)
        warp_total[warp] = total;
    __syncthreads();

    // Announce the sum, so that later tiles can go on; look back; announce the prefix.
    if (warp == 0) {
        float sum = warp_sum(lane < WARPS ? warp_total[lane] : 0);
        if (lane == 0)
            store_relaxed(states + tile, make_state(tile == 0 ? PREFIX : SUM, sum));
        float before = tile == 0 ? 0 : look_back(states, tile);
        if (lane == 0) {
            before_tile = before;
            if (tile > 0)
                store_relaxed(states + tile, make_state(PREFIX, before + sum));
        }
    }
    __syncthreads();

    // Add what comes before: the tile, this warp in the tile, this row in the warp, this lane.
    float before = before_tile;
    for (int other = 0; other < warp; other++)
        before += warp_total[other];
#pragma unroll
    for (int row = 0; row < ROWS; row++) {
        float below = __shfl_up_sync(0xffffffff, up_to[row], 1);
        float base = lane > 0 ? before + below : before;
        float x = base + v[row].x, y = x + v[row].y, z = y + v[row].z, w = z + v[row].w;
        float4 sums = exclusive ? make_float4(base, x, y, z) : make_float4(x, y, z, w);
        store4(out, start + row * 128, n, aligned, sums);
        before += __shfl_sync(0xffffffff, up_to[row], 31);
    }
}

// Before the scan: the ticket and the states to zero, a 64-bit word each thread.
extern "C" __global__ void clear(unsigned long long *words, long long count)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        words[i] = 0;
}
