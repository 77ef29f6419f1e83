/*
 * path_tiles.cu: row_tiles.cu without late blocks. Row ends and nonzeros are merged into one list,
 * each row's end after its last nonzero: the merge path. A block takes a tile of that path, an
 * equal share of the work whatever the rows look like. Where the tiles begin is found by a kernel
 * that walks over the row ends once beforehand, so that a block can ask for its nonzeros at once.
 * What a tile leaves of its last row is added by a third kernel (add_carries), in a fixed order.
 * The time depends on the bytes alone, not on how the rows lie.
 */
// arch: sm_75
#define BLOCK 512 // tune: 256 512
#define PER_THREAD 12 // tune: 8 12 16
#define OCCUPANCY 1536 // tune: 1024 1280 1536 2048
#include "tile.h"
#define ITEMS (TILE - 8) /* row ends and nonzeros; fewer, as the loads may begin earlier */
/* The point of the path where a tile begins; rows and nonzeros together are fewer than 2^32. */
#define POINT(tile) ((unsigned)min(items, (tile) * ITEMS))

/* A tile of the path: `count` rows end in it, beginning with `row`, and one more may begin. */
struct stretch {
    int row, count;
    int first; /* nonzero */
};

/* The rows that end in a tile, and which of them are longer than SHORT, in any order. */
struct row_list {
    unsigned short end[ITEMS]; /* counted from BASE_OF the first nonzero */
    unsigned short longer[TILE / SHORT];
    unsigned long_count;
};

/* Lists row r of the tile, which ends in it. */
static __device__ __forceinline__ void list_row(row_list *list, stretch s, int r,
                                                const int *offsets)
{
    int begin = __ldg(offsets + s.row + r), end = __ldg(offsets + s.row + r + 1);
    list->end[r] = end - BASE_OF(s.first);
    if (end - max(begin, s.first) > SHORT)
        list->longer[atomicAdd(&list->long_count, 1)] = r;
}

/* Where row r of a tile begins in it. */
static __device__ __forceinline__ int begin_of(const row_list *list, stretch s, int r)
{
    return r ? list->end[r - 1] : s.first - BASE_OF(s.first);
}

/* Sums up the rows of a tile: short ones by a thread, longer ones by a warp, and by a warp too what
 * the tile has of the row that goes on, which becomes *left. None waits for another. */
static __device__ __forceinline__ void sum_rows(const float *product, const row_list *list,
                                                stretch s, int end_of_tile, float *y, float *left)
{
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int r = threadIdx.x; r < s.count; r += BLOCK) {
        int begin = begin_of(list, s, r), end = list->end[r];
        if (end - begin <= SHORT)
            __stcs(y + s.row + r, sum_short(product, begin, end));
    }
    for (unsigned k = warp; k < list->long_count; k += BLOCK / 32) {
        int r = list->longer[k];
        float sum = sum_long(product, begin_of(list, s, r), list->end[r]);
        if (lane == 0)
            __stcs(y + s.row + r, sum);
    }
    if (warp == BLOCK / 32 - 1) {
        float sum = sum_long(product, begin_of(list, s, s.count), end_of_tile - BASE_OF(s.first));
        if (lane == 0)
            *left = sum;
    }
}

/* first_row[t]: how many rows end before tile t, for every tile and for what lies past the last.
 * Each thread has a row and serves the tiles that begin between the end of the row before and its
 * own. */
extern "C" __global__ void find_tiles(const int *offsets, long long rows, long long tiles,
                                      int *first_row)
{
    long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (row > rows)
        return;
    /* Points of the path, in 32 bits: just past the end of the row before, and of this row. */
    unsigned point = row ? (unsigned)__ldg(offsets + row) + (unsigned)row : 0;
    unsigned next = row < rows ? (unsigned)__ldg(offsets + row + 1) + (unsigned)row + 1 : 0xffffffff;
    unsigned tile = point / ITEMS + (point % ITEMS != 0);
    for (; tile < tiles && tile * ITEMS < next; tile++)
        first_row[tile] = row;
    if (row == rows)
        first_row[tiles] = rows;
}

extern "C" __global__ void __launch_bounds__(BLOCK, OCCUPANCY / BLOCK)
multiply(const int *offsets, const int *columns, const float *values, const float *x,
         long long rows, long long nonzeros, float *y, const int *first_row, carry *carries)
{
    __shared__ float product[PLACES];
    __shared__ row_list list;
    long long items = rows + nonzeros, tile = blockIdx.x;
    int row = __ldg(first_row + tile), row_after = __ldg(first_row + tile + 1);
    stretch s = {row, row_after - row, (int)(POINT(tile) - row)};
    int end = POINT(tile + 1) - row_after;
    source from = source_of(columns, values, BASE_OF(s.first), end, nonzeros);
    unsigned column[PER_THREAD];
    load_words<PER_THREAD>(from.columns, from, column);
    if (threadIdx.x == 0)
        list.long_count = 0;
    __syncthreads();
    for (int r = threadIdx.x; r < s.count; r += BLOCK)
        list_row(&list, s, r, offsets);
    multiply_some<PER_THREAD>(column, from, x, product);
    __syncthreads();
    if (threadIdx.x == 0)
        carries[tile].row = row_after;
    sum_rows(product, &list, s, end, y, &carries[tile].sum);
}

extern "C" __global__ void __launch_bounds__(256)
add_carries(const carry *carries, long long count, long long rows, float *y)
{
    add_to_rows(carries, count, rows, y);
}
