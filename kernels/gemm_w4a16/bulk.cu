/*
 * bulk.cu: weights in tiles, y^T = W x^T on the tensor cores, with one block for each SM, which stays. Its
 * warps share k, not the rows of W: so the columns of x that a warp needs are always the same, x is
 * brought to shared memory once, and all SMs have the same number of tiles but for one. Weights come by
 * bulk copies, STAGES units of 128 columns and two tiles ahead of each warp, which hold no registers and
 * cost a warp no instructions. After two tiles the warps add up their sums. Where x is too large for one
 * SM, the blocks of a cluster share k too.
 */
// arch: sm_90
#include "bulk.h"
#include "tiles.h"

#define STAGES 2 // tune: 2 3 4; one less with 16 rows of x, which take more room
#define TEAM 16 // warps of a block
#define SAVED 8 // pairs of tiles after which the blocks of a cluster add up

/* Two chunks of two tiles on their way to a warp. */
template <int GROUP> struct slot {
    enum { SCALES = GROUP == 32 ? 64 : 16 }; // bytes for a chunk
    uint4 codes[2][2][32];
    unsigned scales[2][2 * SCALES / 4];
};

/* What a warp has of a pair of tiles: rows of x, each with 32 rows of W, apart so that lanes are in
 * different banks. */
template <int NT> struct sums_of_warp {
    float of[NT * 8][36];
};

/* Fetches a warp's units one after the other: those of a pair of tiles, then those of the next pair.
 * Where the next one lies moves on by additions. */
template <int RING, int GROUP> struct supply {
    enum { CODES = 512, SCALES = slot<GROUP>::SCALES }; // bytes of a chunk
    slot<GROUP> *ring;
    barrier *full;
    const unsigned char *codes, *scales; // of the pair's first tile
    long long of_tile, scales_of_tile;   // bytes
    int chunks, chunk, pair, step, tiles, stage;
    bool ends;

    /* Of some columns of W, `chunks` of them, and pair of tiles `pair`. */
    __device__ __forceinline__ void begin(const uint4 *w, const unsigned *s, int k, int column)
    {
        of_tile = Tiles<GROUP>::chunks(k) * CODES;
        scales_of_tile = 4 * Tiles<GROUP>::scale_word(k, 16, 0);
        codes = (const unsigned char *)w + 2 * pair * of_tile + column / 64 * CODES;
        scales = (const unsigned char *)(s + Tiles<GROUP>::scale_word(k, 0, column)) +
                 2 * pair * scales_of_tile;
        ends = chunks == 0 || 2 * pair >= tiles;
    }
    __device__ __forceinline__ void fetch(void)
    {
        if (ends)
            return;
        unsigned count = (unsigned)min(2, chunks - chunk);
        unsigned size = GROUP == 32 ? SCALES * count : 2 * SCALES;
        bool two = 2 * pair + 1 < tiles; // or the first tile twice
        slot<GROUP> *to = &ring[stage];
        barrier *b = &full[stage];
        barrier_arrive_expecting(b, 2 * (CODES * count + size));
        bulk_load(to->codes[0], codes, CODES * count, b);
        bulk_load(to->codes[1], two ? codes + of_tile : codes, CODES * count, b);
        bulk_load(to->scales[0], scales, size, b);
        bulk_load(to->scales[1], two ? scales + scales_of_tile : scales, size, b);
        stage = stage + 1 == RING ? 0 : stage + 1;
        chunk += 2;
        codes += 2 * CODES;
        scales += 2 * SCALES;
        if (chunk >= chunks) {
            codes += 2 * step * of_tile - chunk * CODES;
            scales += 2 * step * scales_of_tile - chunk * SCALES;
            chunk = 0;
            pair += step;
            ends = 2 * pair >= tiles;
        }
    }
};

template <int GROUP>
static __device__ __forceinline__ void read_slot(unit<2, GROUP> &u, const slot<GROUP> &from,
                                                 bool both)
{
    unsigned lane = threadIdx.x % 32;
#pragma unroll
    for (int t = 0; t < 2; t++) {
#pragma unroll
        for (int c = 0; c < 2; c++) {
            if (GROUP == 32 && c == 1 && !both)
                break;
            u.codes[t][c] = from.codes[t][c][lane];
            if constexpr (GROUP == 32) {
                uint2 two = ((const uint2 *)from.scales[t])[c * 8 + lane / 4];
                u.scales[t][c][0] = two.x, u.scales[t][c][1] = two.y;
            }
        }
        if constexpr (GROUP == 128)
            u.scales[t][0][0] = from.scales[t][lane / 4];
    }
}

/* Rows of x, and one of zeros if they are fewer than NT * 8, the columns of this block. */
template <int NT, class T>
static __device__ __forceinline__ void copy_x(unsigned shared, const T *x, int rows, int k, int from,
                                              int columns)
{
    int kept = min(rows + 1, NT * 8), vectors = columns / 8;
    for (int i = threadIdx.x; i < kept * vectors; i += 32 * TEAM) {
        int row = i / vectors, col = from + (i - row * vectors) * 8;
        bool here = row < rows && col < k;
        copy_async_16_to(shared + (unsigned)(row * (2 * columns + 16) + (col - from) * 2),
                         here ? x + (long long)row * k + col : x, here ? 16 : 0);
    }
    copy_async_commit();
}

/* Stores a warp's sums, and sets them to 0. */
template <int NT>
static __device__ __forceinline__ void put_sums(sums_of_warp<NT> *to, float (&sum)[2][NT][4])
{
    unsigned lane = threadIdx.x % 32;
#pragma unroll
    for (int t = 0; t < 2; t++)
#pragma unroll
        for (int j = 0; j < NT; j++)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                to->of[j * 8 + lane % 4 * 2 + i % 2][t * 16 + lane / 4 + i / 2 * 8] = sum[t][j][i];
                sum[t][j][i] = 0;
            }
}
/* Thread i < NT * 256 gets the sum for row i / 32 of x and row i % 32 of W. */
template <int NT> static __device__ __forceinline__ float add_warps(const sums_of_warp<NT> *sums)
{
    float all = 0;
#pragma unroll
    for (int w = 0; w < TEAM; w++)
        all += sums[w].of[threadIdx.x / 32][threadIdx.x % 32];
    return all;
}

template <class T>
static __device__ __forceinline__ void store_one(T *y, float sum, int pair, int rows, int n)
{
    int row = threadIdx.x / 32, column = pair * 32 + (int)threadIdx.x % 32;
    if (row < rows && column < n)
        narrow(sum, &y[(long long)row * n + column]);
}

/* Of `count` pairs, which began with `pair`: the blocks add up what they saved, each some pairs. */
template <int NT, class T>
static __device__ __forceinline__ void add_blocks(const float (*saved)[NT * 256], int count, T *y,
                                                  int pair, int step, int rows, int n, unsigned rank,
                                                  unsigned parts)
{
    cluster_sync();
    for (int i = (int)rank; i < count && threadIdx.x < NT * 256; i += (int)parts) {
        float all = 0;
        for (unsigned part = 0; part < parts; part++)
            all += load_from_block(&saved[i][threadIdx.x], part);
        store_one(y, all, pair + i * step, rows, n);
    }
    cluster_sync(); // the others may still read this block's
}

/* Where things are in shared memory, after the rings. */
template <int NT, int GROUP> struct layout {
    enum {
        RING = STAGES - (NT - 1),
        RINGS = TEAM * RING * sizeof(slot<GROUP>),
        SUMS = TEAM * sizeof(sums_of_warp<NT>),
        SAVES = SAVED * NT * 256 * 4
    };
};

template <int NT, int GROUP, class T>
static __device__ __forceinline__ void multiply(const T *x, const uint4 *w, const unsigned *scales, T *y,
                                                int m, int n, int k, unsigned parts)
{
    extern __shared__ __align__(128) unsigned char shared[]; // rings, sums, saved, x
    typedef layout<NT, GROUP> L;
    const int RING = L::RING;
    __shared__ barrier full[TEAM * RING];
    unsigned rank = blockIdx.x % parts, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int chunks = (k + 63) / 64, of_block = (chunks + 2 * (int)parts - 1) / (2 * (int)parts) * 2;
    int from = min((int)rank * of_block, chunks), here = min(of_block, chunks - from);
    int of_warp = (of_block + 2 * TEAM - 1) / (2 * TEAM) * 2, first = min((int)warp * of_warp, here);
    int mine = min(of_warp, here - first); // chunks of this warp
    int first_row = blockIdx.y * NT * 8, rows = min(NT * 8, m - first_row), tiles = (n + 15) / 16;
    int pairs = (tiles + 1) / 2, begin = (int)(blockIdx.x / parts), step = (int)(gridDim.x / parts);
    supply<RING, GROUP> next = {};
    next.ring = (slot<GROUP> *)shared + warp * RING, next.full = full + warp * RING;
    next.chunks = mine, next.pair = begin, next.step = step, next.tiles = tiles;
    next.begin(w, scales, k, (from + first) * 64);
    sums_of_warp<NT> *sums = (sums_of_warp<NT> *)(shared + L::RINGS);
    float(*saved)[NT * 256] = (float(*)[NT * 256])(shared + L::RINGS + L::SUMS);
    unsigned x_at = shared_address(shared + L::RINGS + L::SUMS + (parts > 1 ? L::SAVES : 0));
    bool chosen = elect_one();
    if (threadIdx.x < TEAM * RING)
        barrier_make(&full[threadIdx.x], 1);
    barrier_made();
    __syncthreads();
    if (chosen)
        for (int i = 0; i < RING; i++)
            next.fetch();
    x += (long long)first_row * k, y += (long long)first_row * n;
    copy_x<NT>(x_at, x, rows, k, from * 64, of_block * 64);
    copy_async_wait(0);
    __syncthreads();
    unsigned row = NT == 1 ? lane % 8 : lane % 8 + lane / 16 * 8;
    unsigned column = NT == 1 ? lane / 8 * 8 : lane / 8 % 2 * 8;
    x_at += min(row, (unsigned)rows) * (unsigned)(2 * of_block * 64 + 16) +
            2 * ((unsigned)first * 64 + column);
    float sum[2][NT][4] = {}, part[2][NT][4] = {};
    int stage = 0, count = 0;
    unsigned parity = 0;
#pragma unroll 1
    for (int pair = begin; pair < pairs; pair += step) {
#pragma unroll 1
        for (int chunk = 0; chunk < mine; chunk += 2) {
            unit<2, GROUP> u;
            barrier_wait(&full[warp * RING + stage], parity);
            read_slot<GROUP>(u, ((slot<GROUP> *)shared)[warp * RING + stage], chunk + 1 < mine);
            __syncwarp(); // all lanes have theirs
            if (chosen)
                next.fetch();
            stage = stage + 1 == RING ? 0 : stage + 1;
            parity ^= stage == 0;
            multiply_chunk<2, NT, GROUP, T>(sum, part, u, 0, x_at + (unsigned)chunk * 128);
            if (GROUP == 128 || chunk + 1 < mine)
                multiply_chunk<2, NT, GROUP, T>(sum, part, u, 1, x_at + (unsigned)chunk * 128);
        }
        put_sums<NT>(&sums[warp], sum);
        __syncthreads();
        if (threadIdx.x < NT * 256) {
            float all = add_warps<NT>(sums);
            if (parts == 1)
                store_one(y, all, pair, rows, n);
            else
                saved[count][threadIdx.x] = all;
        }
        __syncthreads(); // sums are read
        if (parts > 1 && (++count == SAVED || pair + step >= pairs)) {
            add_blocks<NT>(saved, count, y, pair - (count - 1) * step, step, rows, n, rank, parts);
            count = 0;
        }
    }
}

#define ONE_KERNEL(name, NT, GROUP, T)                                                             \
    extern "C" __global__ void __launch_bounds__(32 * TEAM, 1)                                     \
        name(const T *x, const uint4 *w, const unsigned *scales, T *y, int m, int n, int k,        \
             unsigned parts)                                                                       \
    {                                                                                              \
        multiply<NT, GROUP>(x, w, scales, y, m, n, k, parts);                                      \
    }
#define OF_TYPE(type)                                                                              \
    ONE_KERNEL(tiles32_##type##_8_rows, 1, 32, type)                                               \
    ONE_KERNEL(tiles32_##type##_16_rows, 2, 32, type)                                              \
    ONE_KERNEL(tiles128_##type##_8_rows, 1, 128, type)                                             \
    ONE_KERNEL(tiles128_##type##_16_rows, 2, 128, type)
OF_TYPE(bf16)
OF_TYPE(f16)
