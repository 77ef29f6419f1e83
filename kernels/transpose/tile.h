/*
 * tile.h: takes a tile of TILE_ROWS x TILE_COLS through shared memory by 16-byte accesses.
 *
 * A thread reads 4 x 4 elements as four vectors, one per row, and stores them as four vectors, one
 * per column: in registers the transposition costs nothing. Column c of the tile in shared memory
 * has TILE_ROWS / 4 of these vectors; number q lies at place q ^ (c / 4 % 8). Shared memory serves
 * 16-byte accesses 8 lanes at a time, and those 8 always meet 8 different places, whether they
 * write (same q, columns 4 apart) or read (same column, one q after the other). No padding, no
 * conflict. The including file sets TILE_ROWS, TILE_COLS, UNROLL and STORE_STREAMING.
 */
#include "device.h" /* load_once, shared_address */

#define QUADS (TILE_ROWS / 4)                       /* vectors of a column */
#define BLOCK (TILE_ROWS * TILE_COLS / 16 / UNROLL) /* threads; UNROLL squares each */

struct square {
    float4 row[4];
};

static __device__ __forceinline__ unsigned place(unsigned col, unsigned quad)
{
    return col * QUADS + (quad ^ (col / 4 % 8));
}

/* This thread's square number u. Neighbours in a warp are neighbours in a row. */
static __device__ __forceinline__ unsigned square_row(unsigned u)
{
    return (u * BLOCK + threadIdx.x) / (TILE_COLS / 4) * 4;
}
static __device__ __forceinline__ unsigned square_col(unsigned u)
{
    return (u * BLOCK + threadIdx.x) % (TILE_COLS / 4) * 4;
}

/* Loads a whole tile whose rows begin on 16-byte boundaries. The barrier at the end costs next to
 * nothing; it stops compilers from saving registers by delaying loads until after the first
 * store_squares. */
static __device__ __forceinline__ void load_squares(square s[UNROLL], const float *in,
                                                    long long cols)
{
#pragma unroll
    for (unsigned u = 0; u < UNROLL; u++)
#pragma unroll
        for (unsigned j = 0; j < 4; j++)
            s[u].row[j] =
                load_once((const float4 *)(in + (square_row(u) + j) * cols + square_col(u)));
    __syncwarp();
}

/* In PTX, because a compiler may split a float4 into four accesses. */
static __device__ __forceinline__ void put_vector(float4 *at, float x, float y, float z, float w)
{
    asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(at)), "f"(x),
                 "f"(y), "f"(z), "f"(w)
                 : "memory");
}
static __device__ __forceinline__ float4 get_vector(const float4 *at)
{
    float4 v;
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "r"(shared_address(at))
                 : "memory");
    return v;
}

static __device__ __forceinline__ void store_squares(float4 *tile, const square s[UNROLL])
{
#pragma unroll
    for (unsigned u = 0; u < UNROLL; u++) {
        const float4 *r = s[u].row;
        unsigned col = square_col(u), quad = square_row(u) / 4;
        put_vector(&tile[place(col, quad)], r[0].x, r[1].x, r[2].x, r[3].x);
        put_vector(&tile[place(col + 1, quad)], r[0].y, r[1].y, r[2].y, r[3].y);
        put_vector(&tile[place(col + 2, quad)], r[0].z, r[1].z, r[2].z, r[3].z);
        put_vector(&tile[place(col + 3, quad)], r[0].w, r[1].w, r[2].w, r[3].w);
    }
}

/* Writes the columns of the tile as rows of the result, four vectors of a thread at a time.
 * Neighbours in a warp are neighbours in a column of the tile. */
static __device__ __forceinline__ void write_columns(const float4 *tile, float *out, long long rows)
{
#pragma unroll
    for (unsigned u = 0; u < 4 * UNROLL; u += 4) {
        float4 v[4];
#pragma unroll
        for (unsigned k = 0; k < 4; k++) {
            unsigned i = (u + k) * BLOCK + threadIdx.x;
            v[k] = get_vector(&tile[place(i / QUADS, i % QUADS)]);
        }
#pragma unroll
        for (unsigned k = 0; k < 4; k++) {
            unsigned i = (u + k) * BLOCK + threadIdx.x;
            float4 *at = (float4 *)(out + i / QUADS * rows + i % QUADS * 4);
            if (STORE_STREAMING)
                __stcs(at, v[k]);
            else
                *at = v[k];
        }
    }
}

/* Both ways once more, element by element but still coalesced: for tiles at the edges, and for
 * matrices that do not lie on 16-byte boundaries. The matrix has here_rows x here_cols elements
 * from the tile's corner on. */
static __device__ __forceinline__ float *element(float4 *tile, unsigned row, unsigned col)
{
    return (float *)&tile[place(col, row / 4)] + row % 4;
}

static __device__ __forceinline__ void load_elements(float4 *tile, const float *in, long long cols,
                                                     long long here_rows, long long here_cols)
{
#pragma unroll 4
    for (unsigned i = threadIdx.x; i < TILE_ROWS * TILE_COLS; i += BLOCK) {
        unsigned row = i / TILE_COLS, col = i % TILE_COLS;
        if (row < here_rows && col < here_cols)
            *element(tile, row, col) = in[row * cols + col];
    }
}

static __device__ __forceinline__ void write_elements(float4 *tile, float *out, long long rows,
                                                      long long here_rows, long long here_cols)
{
#pragma unroll 4
    for (unsigned i = threadIdx.x; i < TILE_ROWS * TILE_COLS; i += BLOCK) {
        unsigned row = i % TILE_ROWS, col = i / TILE_ROWS;
        if (row < here_rows && col < here_cols)
            out[col * rows + row] = *element(tile, row, col);
    }
}
