/*
 * x_in_registers.cu: weights in tiles, y^T = W x^T on the tensor cores, with one block for each SM,
 * which stays. Its warps share k, so that a warp always needs the same columns of x: they wait in
 * its registers as operands, and shared memory is left to the weights. A band of k lies side by
 * side in a tile, so one thread fetches it for all warps with two bulk copies, STAGES bands ahead;
 * warps take turns at that. Warps hand their sums of a tile over and go on; one of them adds them
 * up, in a fixed order, a tile later. Where k is more than the registers hold, the block goes over
 * its tiles once for each part of k. While the kernel before this one ends, the L2 fetches the
 * first bands.
 */
// arch: sm_90
#include "bulk.h"
#include "tiles.h"

#define STAGES 8 // tune: 4 6 8
#define PIECE 2  // chunks of 64 columns that a warp has of a band; a scale has one warp
#define TEAM 16  // warps that multiply, and tiles that they go over before the next ones
#define BAND (TEAM * PIECE)

/* Of 16 rows of x a warp holds half as many columns as of 8, and fewer tiles' sums wait. */
template <int NT> struct room {
    enum { BANDS = 8 / PIECE / NT, SLOTS = 4 / NT };
};
template <int NT> using operands = unsigned[room<NT>::BANDS][PIECE][4][NT][2];

template <int GROUP> struct band {
    enum { CODES = 512, SCALES = GROUP == 32 ? 64 : 16 }; // bytes of a chunk
    uint4 codes[BAND][32];
    unsigned scales[BAND * SCALES / 4];
};

template <int NT, int GROUP> struct layout {
    band<GROUP> ring[STAGES];
    float4 sums[room<NT>::SLOTS][TEAM][NT][32];
    float4 saved[TEAM][NT][32]; // of the tiles of a pass
};

/* What a block has to do: its tiles, TEAM at a time; for these all passes; in each pass all bands
 * of a tile that fit the registers, then those of the next tile. */
struct work {
    int tiles, chunks, bands, passes;

    template <int NT> __device__ __forceinline__ void divide(int n, int k)
    {
        tiles = ((n + 15) / 16 - (int)blockIdx.x + (int)gridDim.x - 1) / (int)gridDim.x;
        chunks = (k + 63) / 64;
        bands = (chunks + BAND - 1) / BAND;
        passes = max((bands + room<NT>::BANDS - 1) / room<NT>::BANDS, 1);
    }
    /* In W, of this block's tile i. */
    __device__ __forceinline__ int number_of(int i) const
    {
        return (int)(blockIdx.x + i * gridDim.x);
    }
};

/* Fetches bands. They are numbered in the order of their use, and a warp asks for higher and higher
 * ones. Chunks of a tile are side by side, in codes and scales alike. */
template <int NT, int GROUP> struct supply {
    enum { CODES = band<GROUP>::CODES, SCALES = band<GROUP>::SCALES, BANDS = room<NT>::BANDS };
    work all;
    const unsigned char *w, *scales;
    band<GROUP> *ring;
    barrier *full;
    int start, tile, from; // number, first tile and first band of the pass

    __device__ __forceinline__ void fetch(int number, bool for_l2)
    {
        int wide = min(all.bands - from, (int)BANDS), uses = min(all.tiles - tile, TEAM) * wide;
        while (tile < all.tiles && number - start >= uses) {
            start += uses;
            from += BANDS;
            if (from >= all.bands)
                from = 0, tile += TEAM;
            wide = min(all.bands - from, (int)BANDS), uses = min(all.tiles - tile, TEAM) * wide;
        }
        if (tile >= all.tiles || wide <= 0)
            return;
        int i = (number - start) / wide, b = from + number - start - i * wide;
        size_t at = (size_t)all.number_of(tile + i) * all.chunks + b * BAND;
        unsigned count = (unsigned)min(BAND, all.chunks - b * BAND),
                 stage = (unsigned)number % STAGES;
        const unsigned char *codes_at = w + at * CODES, *scales_at = scales + at * SCALES;
        if (for_l2) {
            bulk_prefetch(codes_at, count * CODES);
            bulk_prefetch(scales_at, count * SCALES);
            return;
        }
        barrier_arrive_expecting(&full[stage], count * (CODES + SCALES));
        bulk_load(ring[stage].codes, codes_at, count * CODES, &full[stage]);
        bulk_load(ring[stage].scales, scales_at, count * SCALES, &full[stage]);
    }
};

/* A warp's columns of x from chunk `first` on, as operands. */
template <int NT, class T>
static __device__ __forceinline__ void load_x(operands<NT> &to, const T *x, int rows, int k,
                                              int first)
{
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int j = 0; j < NT; j++) {
        int row = j * 8 + lane / 4, left = row < rows ? k - first * 64 : 0;
        const T *from = x + (long long)row * k + first * 64 + lane % 4 * 2;
#pragma unroll
        for (int b = 0; b < room<NT>::BANDS; b++)
#pragma unroll
            for (int i = 0; i < PIECE * 4; i++) {
                int column = b * BAND * 64 + i * 16;
                const unsigned *at = (const unsigned *)(from + column);
                to[b][i / 4][i % 4][j][0] = column < left ? at[0] : 0;
                to[b][i / 4][i % 4][j][1] = column < left ? at[4] : 0;
            }
    }
}

/* A warp's chunks of a band, `left` of them if they are fewer than usual. */
template <bool WHOLE, int NT, int GROUP, class T>
static __device__ __forceinline__ void multiply_chunks(float (&sum)[NT][4], const band<GROUP> &s,
                                                       const unsigned (&x)[PIECE][4][NT][2],
                                                       int left)
{
    unsigned lane = threadIdx.x % 32, first = threadIdx.x / 32 * PIECE;
    float part[NT][4] = {};
#pragma unroll
    for (int c = 0; c < PIECE; c++) {
        if (!WHOLE && c >= left)
            break;
        uint4 codes = s.codes[first + c][lane];
        unsigned word[4] = {codes.x, codes.y, codes.z, codes.w};
        uint2 scale = GROUP == 32 ? ((const uint2 *)s.scales)[(first + c) * 8 + lane / 4]
                                  : make_uint2(0, s.scales[(first + c) / 2 * 8 + lane / 4]);
#pragma unroll
        for (int step = 0; step < 4; step++) {
            unsigned a[4];
#pragma unroll
            for (int i = 0; i < 4; i++)
                a[i] = numbers_of(word[step] >> 4 * i, T());
#pragma unroll
            for (int j = 0; j < NT; j++)
                multiply_add(part[j], a, x[c][step][j][0], x[c][step][j][1], T());
            if (GROUP == 32 && step == 1)
                add_scaled<NT>(sum, part, scale.x);
            if (step == 3 && (GROUP == 32 || c % 2 == 1))
                add_scaled<NT>(sum, part, scale.y);
        }
    }
}

/* Of a tile: the sums of the passes before and of all warps, always in this order. They go to y, or
 * to `saved` for the next pass. */
template <int NT, class T>
static __device__ __forceinline__ void add_up(const float4 (*sums)[NT][32], float4 (*saved)[32],
                                              bool begins, bool ends, T *y, int rows, int n,
                                              int tile)
{
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int j = 0; j < NT; j++) {
        float4 all = begins ? make_float4(0, 0, 0, 0) : saved[j][lane];
#pragma unroll 4
        for (int w = 0; w < TEAM; w++) {
            float4 one = sums[w][j][lane];
            all.x += one.x, all.y += one.y, all.z += one.z, all.w += one.w;
        }
        if (!ends) {
            saved[j][lane] = all;
            continue;
        }
        float of[4] = {all.x, all.y, all.z, all.w};
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int row = j * 8 + lane % 4 * 2 + i % 2, column = tile * 16 + lane / 4 + i / 2 * 8;
            if (row < rows && column < n)
                narrow(of[i], &y[(long long)row * n + column]);
        }
    }
}

/* How warps hand their sums over. Each of a pass's tiles has a warp that adds it up, when it has
 * multiplied the next tile: the others are done with it by then. */
template <int NT, int GROUP, class T> struct handing_over {
    enum { SLOTS = room<NT>::SLOTS };
    layout<NT, GROUP> &s;
    barrier *given, *taken;
    T *y;
    int rows, n, passes;
    unsigned turn; // tiles so far, of all passes
    bool owes;     // this warp, to add up a tile:
    unsigned owed; // its turn
    int owed_tile, owed_pass;

    __device__ __forceinline__ void give(const float (&sum)[NT][4], bool chosen)
    {
        unsigned slot = turn % SLOTS;
        if (turn >= SLOTS)
            barrier_wait(&taken[slot], (turn / SLOTS - 1) % 2);
#pragma unroll
        for (int j = 0; j < NT; j++)
            s.sums[slot][threadIdx.x / 32][j][threadIdx.x % 32] =
                make_float4(sum[j][0], sum[j][1], sum[j][2], sum[j][3]);
        __syncwarp();
        if (chosen)
            barrier_arrive(&given[slot]);
        turn++;
    }
    __device__ __forceinline__ void take(bool chosen)
    {
        unsigned slot = owed % SLOTS;
        barrier_wait(&given[slot], owed / SLOTS % 2);
        add_up<NT>(s.sums[slot], s.saved[threadIdx.x / 32], owed_pass == 0, owed_pass + 1 == passes,
                   y, rows, n, owed_tile);
        __syncwarp();
        if (chosen)
            barrier_arrive(&taken[slot]);
        owes = false;
    }
};

template <int NT, int GROUP, class T>
static __device__ __forceinline__ void
multiply_all(supply<NT, GROUP> &next, handing_over<NT, GROUP, T> &over, const T *x, int k,
             barrier *full, barrier *empty, bool chosen)
{
    const int BANDS = room<NT>::BANDS;
    const work &all = next.all;
    int warp = threadIdx.x / 32;
    unsigned use = 0; // the number of the band
    for (int begin = 0; begin < all.tiles; begin += TEAM)
        for (int pass = 0; pass < all.passes; pass++) {
            operands<NT> v;
            int first = pass * BANDS * BAND + warp * PIECE,
                bands = min(BANDS, all.bands - pass * BANDS);
            load_x<NT>(v, x, over.rows, k, first);
#pragma unroll 1
            for (int i = 0; i < TEAM && begin + i < all.tiles; i++) {
                float sum[NT][4] = {};
#pragma unroll
                for (int b = 0; b < BANDS; b++) {
                    if (b >= bands)
                        break;
                    unsigned stage = use % STAGES;
                    const band<GROUP> &here = over.s.ring[stage];
                    barrier_wait(&full[stage], use / STAGES % 2);
                    int left = all.chunks - first - b * BAND;
                    if (left >= PIECE)
                        multiply_chunks<true, NT, GROUP, T>(sum, here, v[b], left);
                    else if (left > 0)
                        multiply_chunks<false, NT, GROUP, T>(sum, here, v[b], left);
                    __syncwarp(); // all lanes have read it
                    if (chosen)
                        barrier_arrive(&empty[stage]);
                    if (use % TEAM == (unsigned)warp && use > 0 &&
                        chosen) { // the others are done with the one before
                        barrier_wait(&empty[(use - 1) % STAGES], (use - 1) / STAGES % 2);
                        next.fetch((int)use - 1 + STAGES, false);
                    }
                    use++;
                }
                if (over.owes)
                    over.take(chosen);
                if (i == warp)
                    over.owes = true, over.owed = over.turn,
                    over.owed_tile = all.number_of(begin + i), over.owed_pass = pass;
                over.give(sum, chosen);
            }
        }
    if (over.owes)
        over.take(chosen);
}

template <int NT, int GROUP, class T>
static __device__ __forceinline__ void multiply(const T *x, const uint4 *w, const unsigned *scales,
                                                T *y, int m, int n, int k)
{
    extern __shared__ __align__(128) unsigned char shared[];
    const int SLOTS = room<NT>::SLOTS;
    __shared__ barrier full[STAGES], empty[STAGES], given[SLOTS], taken[SLOTS];
    layout<NT, GROUP> &s = *(layout<NT, GROUP> *)shared;
    int first_row = blockIdx.y * NT * 8, warp = threadIdx.x / 32;
    bool chosen = elect_one();
    work all;
    all.divide<NT>(n, k);
    supply<NT, GROUP> next = {all, (const unsigned char *)w, (const unsigned char *)scales, s.ring,
                              full};
    handing_over<NT, GROUP, T> over = {s, given, taken, y + (long long)first_row * n};
    over.rows = min(NT * 8, m - first_row), over.n = n, over.passes = all.passes, over.owes = false;
    if (threadIdx.x < STAGES) {
        barrier_make(&full[threadIdx.x], 1);
        barrier_make(&empty[threadIdx.x], TEAM);
    }
    if (threadIdx.x < SLOTS) {
        barrier_make(&given[threadIdx.x], TEAM);
        barrier_make(&taken[threadIdx.x], 1);
    }
    barrier_made();
    __syncthreads();
    cudaTriggerProgrammaticLaunchCompletion();
    if (warp < STAGES && chosen)
        next.fetch(warp, true); // W, too, may be the work of the kernel before
    cudaGridDependencySynchronize();
    if (warp < STAGES && chosen)
        next.fetch(warp, false);
    multiply_all(next, over, x + (long long)first_row * k, k, full, empty, chosen);
}

#define ONE_KERNEL(name, NT, GROUP, T)                                                             \
    extern "C" __global__ void __launch_bounds__(32 * TEAM, 1)                                     \
        name(const T *x, const uint4 *w, const unsigned *scales, T *y, int m, int n, int k)        \
    {                                                                                              \
        multiply<NT, GROUP>(x, w, scales, y, m, n, k);                                             \
    }
#define OF_TYPE(type)                                                                              \
    ONE_KERNEL(tiles32_##type##_8_rows, 1, 32, type)                                               \
    ONE_KERNEL(tiles32_##type##_16_rows, 2, 32, type)                                              \
    ONE_KERNEL(tiles128_##type##_8_rows, 1, 128, type)                                             \
    ONE_KERNEL(tiles128_##type##_16_rows, 2, 128, type)
OF_TYPE(bf16)
OF_TYPE(f16)
