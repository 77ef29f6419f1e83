/*
 * chunks.h: how unrolled.cu and warp_tiled.cu load tiles: in chunks of four neighbours, through
 * registers, with as few instructions as possible. Addresses are worked out once and then move on
 * by a constant; and since rows and columns outside the matrices are replaced by the last ones
 * inside (what comes of them is not stored), only the end of k needs checks.
 *
 * The file that includes it defines BM, BN, BK, THREADS and ROW, the padded row of A's tile.
 */
#define CHUNKS (BK / 4)                  /* in a row of A's tile */
#define A_COUNT (BM * BK / 4 / THREADS)  /* chunks of a tile for each thread */
#define B_COUNT (BK * BN / 4 / THREADS)
#define A_ROWS (THREADS / CHUNKS)        /* from one of its chunks to the next */
#define B_ROWS (THREADS / (BN / 4))
#if BM * BK / 4 % THREADS || BK * BN / 4 % THREADS || THREADS % (BN / 4)
#error "the tiles do not come out even"
#endif

struct chunks {
    float4 a[A_COUNT], b[B_COUNT];
};

struct loader {
    const float *a[A_COUNT], *b;         /* of the next tile */
    long long b_down, b_next;            /* to B's next chunk, to its next tile */
    unsigned a_column, b_row, b_columns; /* within a tile; how many columns are inside B */
};

static __device__ __forceinline__ loader loader_of(matrix a, matrix b, long long row,
                                                   long long column)
{
    loader from;
    from.a_column = threadIdx.x % CHUNKS * 4;
#pragma unroll
    for (unsigned t = 0; t < A_COUNT; t++)
        from.a[t] = a.at + from.a_column +
                    min(row + threadIdx.x / CHUNKS + t * A_ROWS, a.rows - 1) * a.columns;
    long long x = min(column + threadIdx.x % (BN / 4) * 4, b.columns - 1) / 4 * 4;
    from.b_row = threadIdx.x / (BN / 4);
    from.b = b.at + from.b_row * b.columns + x;
    from.b_columns = min(b.columns - x, 4LL);
    from.b_down = B_ROWS * b.columns;
    from.b_next = BK * b.columns;
    return from;
}

/* The first `count` of four elements, then zeros; all or none of them if WIDE. */
template <bool WIDE>
static __device__ __forceinline__ float4 load_first(const float *at, unsigned count)
{
    float4 v = make_float4(0, 0, 0, 0);
    if (WIDE) {
        if (count)
            v = *(const float4 *)at;
    } else {
        v.x = count > 0 ? at[0] : 0.0f;
        v.y = count > 1 ? at[1] : 0.0f;
        v.z = count > 2 ? at[2] : 0.0f;
        v.w = count > 3 ? at[3] : 0.0f;
    }
    return v;
}

/* The next tile, of which `left` steps of k are inside the matrices: at least BK if it is WHOLE. */
template <bool WIDE, bool WHOLE>
static __device__ __forceinline__ void load_chunks(chunks *next, loader *from, unsigned left)
{
    unsigned in_a = WHOLE ? 4 : left > from->a_column ? left - from->a_column : 0;
    unsigned in_b = WIDE ? 4 : from->b_columns;
#pragma unroll
    for (unsigned t = 0; t < A_COUNT; t++) {
        next->a[t] = load_first<WIDE>(from->a[t], in_a);
        from->a[t] += BK;
    }
#pragma unroll
    for (unsigned t = 0; t < B_COUNT; t++)
        next->b[t] = load_first<WIDE>(from->b + t * from->b_down,
                                      WHOLE || from->b_row + t * B_ROWS < left ? in_b : 0);
    from->b += from->b_next;
}

static __device__ __forceinline__ void store_chunks(const chunks *next, float a_tile[BK][ROW],
                                                    float b_tile[BK][BN])
{
    unsigned row = threadIdx.x / CHUNKS, l = threadIdx.x % CHUNKS * 4;
#pragma unroll
    for (unsigned t = 0; t < A_COUNT; t++) { /* transposed */
        a_tile[l][row + t * A_ROWS] = next->a[t].x;
        a_tile[l + 1][row + t * A_ROWS] = next->a[t].y;
        a_tile[l + 2][row + t * A_ROWS] = next->a[t].z;
        a_tile[l + 3][row + t * A_ROWS] = next->a[t].w;
    }
#pragma unroll
    for (unsigned t = 0; t < B_COUNT; t++)
        *(float4 *)&b_tile[threadIdx.x / (BN / 4) + t * B_ROWS][threadIdx.x % (BN / 4) * 4] =
            next->b[t];
}
