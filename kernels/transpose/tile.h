/*
 * tile.h: a tile of TILE_ROWS x TILE_COLS on its way through shared memory by 16-byte accesses.
 *
 * A thread reads 4 x 4 elements as four vectors of a row each and turns them over in registers:
 * four vectors of a column each. The shared tile holds these: column c has TILE_ROWS / 4 of them,
 * number q at place q ^ (c / 4 % 8). 8 lanes, which is what shared memory serves at a time when
 * each asks for 16 bytes, then meet 8 different places of 16 bytes, whether they write (same q,
 * columns 4 apart) or read (same column, q after q). No padding, no conflict.
 */
#define QUADS      (TILE_ROWS / 4)                       /* vectors of a column */
#define BLOCK      (TILE_ROWS * TILE_COLS / 16 / UNROLL) /* threads; UNROLL squares each */
#define TILE_BYTES (TILE_ROWS * TILE_COLS * 4)

typedef struct {
    f32x4 row[4];
} square; /* 4 x 4 elements */

DEVICE u32 place(u32 col, u32 quad)
{
    return col * QUADS + (quad ^ (col / 4 % 8));
}

/* The u-th of this thread's squares; neighbours in a warp are neighbours in a row. */
DEVICE u32 square_row(u32 u)
{
    return 4 * ((u * BLOCK + thread_x()) / (TILE_COLS / 4));
}
DEVICE u32 square_col(u32 u)
{
    return 4 * ((u * BLOCK + thread_x()) % (TILE_COLS / 4));
}
/* The k-th vector that it takes out again; neighbours in a warp are neighbours in a column. */
DEVICE u32 vector_col(u32 k)
{
    return (k * BLOCK + thread_x()) / QUADS;
}
DEVICE u32 vector_quad(u32 k)
{
    return (k * BLOCK + thread_x()) % QUADS;
}

/* A whole tile whose rows lie on 16-byte boundaries. The barrier costs next to nothing and keeps
 * compilers from delaying loads, which saves registers, until after the first put(). */
DEVICE void fetch(square s[UNROLL], const f32 *in, i64 cols)
{
#pragma unroll
    for (u32 u = 0; u < UNROLL; u++) {
        const f32 *at = in + square_row(u) * cols + square_col(u);
#pragma unroll
        for (u32 j = 0; j < 4; j++)
            s[u].row[j] = load_once_f32x4(at + j * cols);
    }
    sync_warp();
}

/* One instruction of 16 bytes each: a compiler is free to split what C writes as four floats. */
DEVICE void put_vector(const f32x4 *at, f32 x, f32 y, f32 z, f32 w)
{
    asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(at)), "f"(x),
                 "f"(y), "f"(z), "f"(w)
                 : "memory");
}
DEVICE f32x4 get_vector(const f32x4 *at)
{
    f32x4 v;
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "r"(shared_address(at))
                 : "memory");
    return v;
}

DEVICE void put(f32x4 *tile, const square s[UNROLL])
{
#pragma unroll
    for (u32 u = 0; u < UNROLL; u++) {
        const f32x4 *r = s[u].row;
        u32 col = square_col(u), quad = square_row(u) / 4;
        put_vector(&tile[place(col, quad)], r[0].x, r[1].x, r[2].x, r[3].x);
        put_vector(&tile[place(col + 1, quad)], r[0].y, r[1].y, r[2].y, r[3].y);
        put_vector(&tile[place(col + 2, quad)], r[0].z, r[1].z, r[2].z, r[3].z);
        put_vector(&tile[place(col + 3, quad)], r[0].w, r[1].w, r[2].w, r[3].w);
    }
}

DEVICE void store_vector(f32 *at, f32x4 v)
{
    if (STORE_STREAMING)
        store_stream_f32x4(at, v);
    else
        store_f32x4(at, v);
}

/* The columns of the tile as rows of the result. */
DEVICE void leave(const f32x4 *tile, f32 *out, i64 rows)
{
#pragma unroll
    for (u32 u = 0; u < UNROLL; u++) {
        f32x4 v[4];
#pragma unroll
        for (u32 k = 0; k < 4; k++)
            v[k] = get_vector(&tile[place(vector_col(4 * u + k), vector_quad(4 * u + k))]);
#pragma unroll
        for (u32 k = 0; k < 4; k++)
            store_vector(out + vector_col(4 * u + k) * rows + 4 * vector_quad(4 * u + k), v[k]);
    }
}

/* The same for tiles at the edge, and for matrices that do not lie on 16-byte boundaries: element
 * by element, still coalesced. here_rows and here_cols are what the matrix has of the tile. */
DEVICE f32 *element(f32x4 *tile, u32 row, u32 col)
{
    return (f32 *)tile + 4 * place(col, row / 4) + row % 4;
}

DEVICE void fetch_and_put_some(f32x4 *tile, const f32 *in, i64 cols, i64 here_rows, i64 here_cols)
{
#pragma unroll 4
    for (u32 i = thread_x(); i < TILE_ROWS * TILE_COLS; i += BLOCK) {
        u32 row = i / TILE_COLS, col = i % TILE_COLS;
        if (row < here_rows && col < here_cols)
            *element(tile, row, col) = in[row * cols + col];
    }
}

DEVICE void leave_some(f32x4 *tile, f32 *out, i64 rows, i64 here_rows, i64 here_cols)
{
#pragma unroll 4
    for (u32 i = thread_x(); i < TILE_ROWS * TILE_COLS; i += BLOCK) {
        u32 row = i % TILE_ROWS, col = i / TILE_ROWS;
        if (row < here_rows && col < here_cols)
            out[col * rows + row] = *element(tile, row, col);
    }
}
