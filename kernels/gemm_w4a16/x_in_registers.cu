/*
 * x_in_registers.cu: weights in tiles, y^T = W x^T on the tensor cores, with one block for each SM,
 * which stays. Its warps share k, so that a warp always needs the same columns of x: they wait in
 * its registers as operands, and shared memory is left to the weights. A band of k lies side by
 * side in a tile, so one thread fetches it for all warps with two bulk copies, `stages` bands ahead;
 * warps take turns at that. Warps hand their sums of a tile over and go on; one of them adds them
 * up, in a fixed order, a tile later. Where k is more than the registers hold, the block goes over
 * its tiles once for each part of k. While the kernel before this one ends, the L2 fetches the
 * first bands.
 */
// arch: sm_90
#include "bulk.h"
#include "prefetch.h"
#include "tiles.h"

#define PIECE 4  // chunks of 64 columns that a warp has of a band
#define TEAM 16  // warps of a block, and tiles that it goes over before the next ones
#define BAND (TEAM * PIECE)

/* Of 16 rows of x a warp holds half as many columns as of 8, and fewer tiles' sums wait. */
template <int NT> struct room {
    enum { BANDS = 8 / PIECE / NT, SLOTS = 4 / NT };
};

/* Read once: leaves the L2 before anything else. */
static __device__ __forceinline__ void bulk_load_once(void *shared, const void *global,
                                                      unsigned bytes, barrier *b)
{
    unsigned long long policy;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
                 "[%0], [%1], %2, [%3], %4;" ::"r"(shared_address(shared)),
                 "l"(global), "r"(bytes), "r"(shared_address(b)), "l"(policy)
                 : "memory");
}

template <int GROUP> struct __align__(128) band
{
    enum { CODES = 512, SCALES = GROUP == 32 ? 64 : 16 }; // bytes of a chunk
    uint4 codes[BAND][32];
    unsigned scales[BAND * SCALES / 4];
    barrier full, empty;
};

template <int NT, int GROUP> struct layout {
    float4 sums[room<NT>::SLOTS][TEAM][NT][32];
    float4 saved[TEAM][NT][32]; // of the tiles of a pass
    uint4 scratch[TEAM][64];    // for x on its way to the registers
    barrier given[room<NT>::SLOTS], taken[room<NT>::SLOTS];
    band<GROUP> ring[]; // `stages` of them
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
    int start, tile, from; // number, first tile and first band of the pass

    __device__ __forceinline__ void fetch(int number, band<GROUP> *to)
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
        unsigned count = (unsigned)min(BAND, all.chunks - b * BAND);
        if (!to) { // only to the L2
            bulk_prefetch(w + at * CODES, count * CODES);
            bulk_prefetch(scales + at * SCALES, count * SCALES);
            return;
        }
        barrier_arrive_expecting(&to->full, count * (CODES + SCALES));
        bulk_load_once(to->codes, w + at * CODES, count * CODES, &to->full);
        bulk_load_once(to->scales, scales + at * SCALES, count * SCALES, &to->full);
    }
};

/* A warp's columns of x, from chunk `first` on, as operands: eight rows of a chunk at a time pass
 * through shared memory, where ldmatrix turns them. `meanwhile` is called while they are on their way. */
template <int NT, class T, class F>
static __device__ __forceinline__ void load_x(unsigned (&to)[room<NT>::BANDS][PIECE][4][NT][2],
                                              uint4 *scratch, const T *x, int rows, int k,
                                              int first, F meanwhile)
{
    const int CHUNKS = room<NT>::BANDS * PIECE;
    int lane = threadIdx.x % 32;
    uint4 raw[CHUNKS][NT][2];
#pragma unroll
    for (int c = 0; c < CHUNKS; c++)
#pragma unroll
        for (int j = 0; j < 2 * NT; j++) {
            int row = j * 4 + lane / 8,
                column = (first + c / PIECE * BAND + c % PIECE) * 64 + lane % 8 * 8;
            raw[c][j / 2][j % 2] = row < rows && column < k
                                       ? *(const uint4 *)(x + (long long)row * k + column)
                                       : make_uint4(0, 0, 0, 0);
        }
    meanwhile();
#pragma unroll
    for (int c = 0; c < CHUNKS; c++)
#pragma unroll
        for (int j = 0; j < NT; j++) {
#pragma unroll
            for (int h = 0; h < 2; h++) { // the eight parts of a row are turned round by its number
                int row = h * 4 + lane / 8;
                scratch[row * 8 + (lane % 8 ^ row)] = raw[c][j][h];
            }
            __syncwarp();
#pragma unroll
            for (int h = 0; h < 2; h++) {
                unsigned v[4];
                load_matrices(
                    v, shared_address(&scratch[lane % 8 * 8 + ((h * 4 + lane / 8) ^ lane % 8)]));
#pragma unroll
                for (int i = 0; i < 4; i++)
                    to[c / PIECE][c % PIECE][h * 2 + i / 2][j][i % 2] = v[i];
            }
            __syncwarp();
        }
}

/* A warp's chunks of a band, `left` of them if they are fewer than usual. */
template <bool WHOLE, int NT, int GROUP, class T>
static __device__ __forceinline__ void multiply_piece(float (&sum)[NT][4], const band<GROUP> &s,
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
            numbers_of(a, word[step], T());
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

/* One row of x, and scales for 32 columns: the tensor cores' eight columns take the eight groups of
 * a piece of k in place of eight rows of x, so that their sums come out apart, and scales are
 * applied once. */
static __device__ __forceinline__ void load_groups(unsigned (&to)[PIECE][4][1][2], const void *x,
                                                   int k, int first)
{
    int lane = threadIdx.x % 32, group = lane / 4, column = first * 64 + group * 32 + lane % 4 * 2;
    const unsigned *at = (const unsigned *)x + column / 2;
    unsigned mine[2][2];
#pragma unroll
    for (int i = 0; i < 4; i++)
        mine[i / 2][i % 2] = column < k ? at[i * 4] : 0;
#pragma unroll
    for (int c = 0; c < PIECE; c++)
#pragma unroll
        for (int i = 0; i < 8; i++)
            to[c][i / 2][0][i % 2] = keep(group == c * 2 + i / 4 ? mine[i / 2 % 2][i % 2] : 0);
}
template <bool WHOLE, class T>
static __device__ __forceinline__ void multiply_groups(float (&sum)[1][4], const band<32> &s,
                                                       const unsigned (&x)[PIECE][4][1][2],
                                                       int left)
{
    int lane = threadIdx.x % 32, first = threadIdx.x / 32 * PIECE;
    float part[4] = {};
#pragma unroll
    for (int c = 0; c < PIECE; c++) {
        if (!WHOLE && c >= left)
            break;
        uint4 codes = s.codes[first + c][lane];
        unsigned word[4] = {codes.x, codes.y, codes.z, codes.w};
#pragma unroll
        for (int step = 0; step < 4; step++) {
            unsigned a[4];
            numbers_of(a, word[step], T());
            multiply_add(part, a, x[c][step][0][0], x[c][step][0][1], T());
        }
    }
    uint2 scale =
        make_uint2(0, 0); // of a chunk's two groups, which are columns of this lane's sums
    if (WHOLE || lane % 4 < left)
        scale = ((const uint2 *)s.scales)[(first + lane % 4) * 8 + lane / 4];
    float2 even = widen_pair(scale.x, f16()), odd = widen_pair(scale.y, f16());
    sum[0][0] = fmaf(odd.x, part[1], fmaf(even.x, part[0], sum[0][0]));
    sum[0][2] = fmaf(odd.y, part[3], fmaf(even.y, part[2], sum[0][2]));
}
template <bool WHOLE, int ROWS, int NT, int GROUP, class T>
static __device__ __forceinline__ void multiply_some(float (&sum)[NT][4], const band<GROUP> &s,
                                                     const unsigned (&x)[PIECE][4][NT][2], int left)
{
    if constexpr (ROWS == 1)
        multiply_groups<WHOLE, T>(sum, s, x, left);
    else
        multiply_piece<WHOLE, NT, GROUP, T>(sum, s, x, left);
}
/* Lanes of the same rows of W add up; the first one has the sum, in place of that for the first row
 * of x. */
static __device__ __forceinline__ void add_groups(float (&sum)[1][4])
{
#pragma unroll
    for (int lanes = 1; lanes <= 2; lanes *= 2) {
        sum[0][0] += __shfl_xor_sync(0xffffffff, sum[0][0], lanes);
        sum[0][2] += __shfl_xor_sync(0xffffffff, sum[0][2], lanes);
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
            barrier_wait(&s.taken[slot], (turn / SLOTS - 1) % 2);
#pragma unroll
        for (int j = 0; j < NT; j++)
            s.sums[slot][threadIdx.x / 32][j][threadIdx.x % 32] =
                make_float4(sum[j][0], sum[j][1], sum[j][2], sum[j][3]);
        __syncwarp();
        if (chosen)
            barrier_arrive(&s.given[slot]);
        turn++;
    }
    __device__ __forceinline__ void take(bool chosen)
    {
        unsigned slot = owed % SLOTS;
        barrier_wait(&s.given[slot], owed / SLOTS % 2);
        add_up<NT>(s.sums[slot], s.saved[threadIdx.x / 32], owed_pass == 0, owed_pass + 1 == passes,
                   y, rows, n, owed_tile);
        __syncwarp();
        if (chosen)
            barrier_arrive(&s.taken[slot]);
        owes = false;
    }
};

template <int ROWS, int NT, int GROUP, class T>
static __device__ __forceinline__ void multiply_all(supply<NT, GROUP> &next,
                                                    handing_over<NT, GROUP, T> &over, const T *x,
                                                    int k, int stages, bool chosen)
{
    const int BANDS = room<NT>::BANDS;
    const work &all = next.all;
    int warp = threadIdx.x / 32, until = warp ? warp : TEAM; // the warp's turn to fetch
    int number = until - 1 + stages;                         // what it fetches then
    band<GROUP> *ring = over.s.ring, *here = ring, *end = ring + stages;
    unsigned parity = 0;
    bool begins = warp < stages && chosen; // or has begun; x is asked for first, for it is needed first
    auto fetch_first = [&] {
        if (begins)
            next.fetch(warp, &ring[warp]);
        begins = false;
    };
    if constexpr (ROWS == 1)
        fetch_first();
    for (int begin = 0; begin < all.tiles; begin += TEAM)
        for (int pass = 0; pass < all.passes; pass++) {
            unsigned v[BANDS][PIECE][4][NT][2];
            int first = pass * BANDS * BAND + warp * PIECE, bands = all.bands - pass * BANDS;
            int tiles = min(TEAM, all.tiles - begin);
            if constexpr (ROWS == 1)
                for (int b = 0; b < BANDS; b++)
                    load_groups(v[b], x, k, first + b * BAND);
            else
                load_x<NT>(v, over.s.scratch[warp], x, over.rows, k, first, fetch_first);
#pragma unroll 1
            for (int i = 0; i < tiles; i++) {
                float sum[NT][4] = {};
#pragma unroll
                for (int b = 0; b < BANDS; b++) {
                    if (b >= bands)
                        break;
                    int left = all.chunks - first - b * BAND;
                    barrier_wait(&here->full, parity);
                    if (left >= PIECE)
                        multiply_some<true, ROWS, NT, GROUP, T>(sum, *here, v[b], left);
                    else if (left > 0)
                        multiply_some<false, ROWS, NT, GROUP, T>(sum, *here, v[b], left);
                    __syncwarp(); // all lanes have read it
                    if (chosen)
                        barrier_arrive(&here->empty);
                    if (until-- == 0) { // the others will be done with the band before
                        until = TEAM - 1;
                        if (chosen) {
                            band<GROUP> *before = (here == ring ? end : here) - 1;
                            barrier_wait(&before->empty, parity ^ (here == ring));
                            next.fetch(number, before);
                        }
                        number += TEAM;
                    }
                    parity ^= ++here == end;
                    here = here == end ? ring : here;
                }
                if (over.owes)
                    over.take(chosen);
                if (i == warp)
                    over.owes = true, over.owed = over.turn,
                    over.owed_tile = all.number_of(begin + i), over.owed_pass = pass;
                if constexpr (ROWS == 1)
                    add_groups(sum);
                over.give(sum, chosen);
            }
        }
    if (over.owes)
        over.take(chosen);
}

template <int ROWS, int GROUP, class T>
static __device__ __forceinline__ void multiply(const T *x, const uint4 *w, const unsigned *scales,
                                                T *y, int m, int n, int k, int stages)
{
    const int NT = ROWS == 16 ? 2 : 1;
    extern __shared__ __align__(128) unsigned char shared[];
    layout<NT, GROUP> &s = *(layout<NT, GROUP> *)shared;
    int first_row = blockIdx.y * NT * 8, warp = threadIdx.x / 32;
    bool chosen = elect_one();
    work all;
    all.divide<NT>(n, k);
    supply<NT, GROUP> next = {all, (const unsigned char *)w, (const unsigned char *)scales};
    handing_over<NT, GROUP, T> over = {s, y + (long long)first_row * n};
    over.rows = min(NT * 8, m - first_row), over.n = n, over.passes = all.passes, over.owes = false;
    if (warp < 2 && chosen)
        next.fetch(warp, nullptr); // W, too, may be the work of the kernel before
    if (threadIdx.x < stages) {
        barrier_make(&s.ring[threadIdx.x].full, 1);
        barrier_make(&s.ring[threadIdx.x].empty, TEAM);
    }
    if (threadIdx.x < room<NT>::SLOTS) {
        barrier_make(&s.given[threadIdx.x], TEAM);
        barrier_make(&s.taken[threadIdx.x], 1);
    }
    barrier_made();
    __syncthreads();
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();
    multiply_all<ROWS>(next, over, x + (long long)first_row * k, k, stages, chosen);
}

#define ONE_KERNEL(name, ROWS, GROUP, T)                                                           \
    extern "C" __global__ void __launch_bounds__(32 * TEAM, 1)                                     \
        name(const T *x, const uint4 *w, const unsigned *scales, T *y, int m, int n, int k,        \
             int stages)                                                                           \
    {                                                                                              \
        multiply<ROWS, GROUP>(x, w, scales, y, m, n, k, stages);                                   \
    }
#define OF_TYPE(type)                                                                              \
    ONE_KERNEL(tiles32_##type##_1_rows, 1, 32, type)                                               \
    ONE_KERNEL(tiles32_##type##_8_rows, 8, 32, type)                                               \
    ONE_KERNEL(tiles32_##type##_16_rows, 16, 32, type)                                             \
    ONE_KERNEL(tiles128_##type##_8_rows, 8, 128, type)                                             \
    ONE_KERNEL(tiles128_##type##_16_rows, 16, 128, type)
OF_TYPE(bf16)
OF_TYPE(f16)
