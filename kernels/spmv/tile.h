/*
 * tile.h: for the kernels that cut the matrix into shares of nonzeros and not of rows.
 *
 * First, a tile of TILE nonzeros that a block works on: columns and values are streamed in by
 * 16-byte loads, each thread's products go to shared memory, and rows are summed up there. Every
 * nonzero costs one coalesced load and one gather, however the rows lie. BLOCK and PER_THREAD
 * (nonzeros of a thread, a multiple of 4) are set by the including file.
 *
 * Second, carries: what a share had summed up of a row that goes on in the next share.
 */
#include "device.h" /* load_stream */

#define TILE (BLOCK * PER_THREAD)
#define SHORT 32 /* nonzeros that one thread sums up; a longer row gets a warp */
/* A tile's loads begin where a sector does, at most 7 nonzeros early. */
#define BASE_OF(first) ((first) & ~7)
/* One word in 33 is skipped: otherwise rows of 8, 16 or 32 nonzeros would meet in the same banks,
 * and so would the four words of neighbouring lanes' vectors. */
#define PLACE(p) ((unsigned)(p) + (unsigned)(p) / 32)
#define PLACES (TILE + TILE / 32)
/* A thread has nonzeros 4 t .. 4 t + 3 of the tile, and so on every 4 * BLOCK: from its first
 * nonzero to its number j. */
#define STEP(j) ((j) / 4 * 4 * BLOCK + (j) % 4)

/* A tile, as one thread sees it. A vector is read whole even if the tile ends inside it: what
 * belongs to another tile is never summed up. Arrays that are not aligned to 16 bytes, and the last
 * few nonzeros of all, are read word by word. */
struct source {
    const unsigned *columns, *values; /* at the thread's first nonzero */
    int count, left; /* nonzeros of the tile, and from the thread's first on (negative: none) */
    bool by_vectors;
};

/* The tile from nonzero `base` up to `end`. */
static __device__ __forceinline__ source source_of(const int *columns, const float *values,
                                                   int base, int end, long long nonzeros)
{
    unsigned skip = threadIdx.x * 4, first = base + skip;
    source from = {(const unsigned *)columns + first, (const unsigned *)values + first, end - base,
                   end - base - (int)skip};
    from.by_vectors = (unsigned long long)(columns + base) % 16 == 0 &&
                      (unsigned long long)(values + base) % 16 == 0 &&
                      ((long long)end + 3) / 4 * 4 <= nonzeros;
    return from;
}

/* Loads the thread's first SOME words, with 0 for those that are not there. */
template <int SOME>
static __device__ __forceinline__ void load_words(const unsigned *from, source tile, unsigned *word)
{
#pragma unroll
    for (int j = 0; j < SOME; j++)
        word[j] = 0;
    if (tile.by_vectors) {
#pragma unroll
        for (int j = 0; j < SOME; j += 4)
            if (STEP(j) < tile.left) {
                uint4 v = load_stream((const uint4 *)(from + STEP(j)));
                word[j] = v.x;
                word[j + 1] = v.y;
                word[j + 2] = v.z;
                word[j + 3] = v.w;
            }
    } else {
#pragma unroll
        for (int j = 0; j < SOME; j++)
            if (STEP(j) < tile.left)
                word[j] = load_stream(from + STEP(j));
    }
}

/* Multiplies the thread's first SOME nonzeros. All its gathers are in flight at once, and the
 * values with them; those are not loaded earlier, so that they take no registers while the columns
 * are on their way. A missing nonzero has column 0. */
template <int SOME>
static __device__ __forceinline__ void multiply_some(const unsigned *column, source tile,
                                                     const float *x, float *product)
{
    float of_x[SOME];
    unsigned value[SOME];
#pragma unroll
    for (int j = 0; j < SOME; j++)
        of_x[j] = __ldg(x + (int)column[j]);
    load_words<SOME>(tile.values, tile, value);
    product += PLACE(threadIdx.x * 4);
#pragma unroll
    for (int j = 0; j < SOME; j++) /* no gap lies inside a vector, and 4 * BLOCK is a round number */
        product[PLACE(STEP(j - j % 4)) + j % 4] = __uint_as_float(value[j]) * of_x[j];
}

/* Makes the products of a tile. One that is mostly empty, as the last of a block's rows often is,
 * has a shorter path. */
static __device__ __forceinline__ void multiply_tile(source tile, const float *x, float *product)
{
    unsigned column[PER_THREAD];
    if (tile.count > 4 * BLOCK) {
        load_words<PER_THREAD>(tile.columns, tile, column);
        multiply_some<PER_THREAD>(column, tile, x, product);
    } else {
        load_words<4>(tile.columns, tile, column);
        multiply_some<4>(column, tile, x, product);
    }
}

/* The sum of products from begin to end, by one thread. */
static __device__ __forceinline__ float sum_short(const float *product, int begin, int end)
{
    float sum = 0;
#pragma unroll 4
    for (int p = begin; p < end; p++)
        sum += product[PLACE(p)];
    return sum;
}

/* The same by a warp; every lane gets it. */
static __device__ __forceinline__ float sum_long(const float *product, int begin, int end)
{
    float sum = 0;
#pragma unroll 4
    for (int p = begin + threadIdx.x % 32; p < end; p += 32)
        sum += product[PLACE(p)];
    for (int lanes = 16; lanes > 0; lanes /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, lanes);
    return sum;
}

/* Carries ---------------------------------------------------------------------------------------*/

struct __align__(8) carry {
    int row; /* the number of rows: nothing is left over */
    float sum;
};

/* Adds to each row what the shares before the one that ended it left over, always in the same
 * order. Most rows have one carry; where there are several, the whole warp helps the first. */
static __device__ __forceinline__ void add_to_rows(const carry *carries, long long count,
                                                   long long rows, float *y)
{
    long long me = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    carry none = {(int)rows, 0}, mine = me < count ? carries[me] : none;
    bool first = mine.row < rows && (me == 0 || carries[me - 1].row != mine.row);
    bool alone = first && (me + 1 >= count || carries[me + 1].row != mine.row);
    if (alone)
        y[mine.row] += mine.sum;
    for (unsigned todo = __ballot_sync(0xffffffff, first && !alone); todo != 0; todo &= todo - 1) {
        int at = __ffs(todo) - 1, its_row = __shfl_sync(0xffffffff, mine.row, at);
        long long k = me + at; /* this lane's carry, counted from the row's first */
        float sum = 0;
        bool more = true;
        while (more) { /* carries of one row lie side by side */
            bool its = k < count && carries[k].row == its_row;
            sum += its ? carries[k].sum : 0;
            more = __all_sync(0xffffffff, its);
            k += 32;
        }
        for (int lanes = 16; lanes > 0; lanes /= 2)
            sum += __shfl_down_sync(0xffffffff, sum, lanes);
        if (threadIdx.x % 32 == 0)
            y[its_row] += sum;
    }
}
