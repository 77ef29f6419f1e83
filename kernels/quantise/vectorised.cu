/*
 * vectorised.cu: a thread has 16 numbers in registers: 16 bytes of memory for each instruction, and
 * blocks that share a scale find their largest number by shuffles between 1, 2 or 8 lanes, so that
 * they are read once. For a whole row, column or array an earlier launch finds it, with one atomic for
 * each block of threads.
 */
// arch: sm_90
#include "chunks.h"
#include "packed.h"
#include "prefetch.h"

#define BLOCK 256 // tune: 128 256 512
#define ROWS 128 // tune: 32 64 128 256
#define UNROLL 2 // tune: 1 2 4
#define AHEAD (4 << 20) // back from 8 bits: bytes from what a block reads to what it asks the L2 for

template <class T> static __device__ __forceinline__ float largest_of_vector(uint4 raw)
{
    float part[PER<T>];
    widen_all<T>(raw, part);
    return largest_of(part);
}

/* Of the whole array, by a grid that walks over it. */
template <class T>
static __device__ __forceinline__ void largest_of_tensor(const arrays &a, unsigned *of_scale)
{
    __shared__ float of_warp[32];
    const T *x = (const T *)a.x;
    long long all = a.rows * a.cols, vectors = (size_t)x % 16 == 0 ? all / PER<T> : 0;
    long long me = (long long)blockIdx.x * BLOCK + threadIdx.x, step = (long long)gridDim.x * BLOCK;
    float size = 0;
#pragma unroll 1
    for (long long i = me; i < vectors; i += 4 * step) {
        uint4 raw[4] = {}; // on their way at the same time
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (i + k * step < vectors)
                raw[k] = load_once((const uint4 *)x + i + k * step);
        if constexpr (sizeof(T) == 2) {
            float largest = largest_size<T>(raw);
            if (largest < INFINITY) {
                size = fmaxf(size, largest);
                continue;
            }
        }
#pragma unroll
        for (int k = 0; k < 4; k++)
            size = fmaxf(size, largest_of_vector<T>(raw[k]));
    }
    for (long long i = vectors * PER<T> + me; i < all; i += step)
        size = fmaxf(size, finite_size(widen(x[i])));
    size = max_block(size, of_warp);
    if (threadIdx.x == 0)
        atomicMax(of_scale, __float_as_uint(size));
}

/* A block for each row. */
template <class T>
static __device__ __forceinline__ void largest_of_row(const arrays &a, unsigned *of_scale)
{
    __shared__ float of_warp[32];
    const T *x = (const T *)a.x + (long long)blockIdx.x * a.cols;
    float size = 0;
    if ((size_t)x % 16 == 0 && a.cols % PER<T> == 0) {
        for (int i = threadIdx.x; i < a.cols / PER<T>; i += BLOCK)
            size = fmaxf(size, largest_of_vector<T>(((const uint4 *)x)[i]));
    } else {
        for (int i = threadIdx.x; i < a.cols; i += BLOCK)
            size = fmaxf(size, finite_size(widen(x[i])));
    }
    size = max_block(size, of_warp);
    if (threadIdx.x == 0)
        of_scale[blockIdx.x] = __float_as_uint(size);
}

/* A thread for each vector of columns and ROWS rows. */
template <class T>
static __device__ __forceinline__ void largest_of_columns(const arrays &a, unsigned *of_scale)
{
    int wide = (a.cols + PER<T> - 1) / PER<T>;
    unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    int col = (int)(i % wide) * PER<T>;
    long long row = (long long)(i / wide) * ROWS, end = min(row + ROWS, a.rows);
    const T *x = (const T *)a.x + row * a.cols + col;
    bool vectors = (size_t)a.x % 16 == 0 && a.cols % PER<T> == 0;
    float size[PER<T>] = {};
#pragma unroll 1
    for (; row < end; row += 4, x += 4 * (long long)a.cols) {
        uint4 raw[4] = {}; // four rows on their way at the same time
#pragma unroll
        for (int r = 0; r < 4; r++)
            if (row + r < end)
                raw[r] = vectors ? load_once((const uint4 *)(x + r * (long long)a.cols))
                                 : load_some(x + r * (long long)a.cols, a.cols - col);
#pragma unroll
        for (int r = 0; r < 4; r++) {
            float part[PER<T>];
            widen_all<T>(raw[r], part);
#pragma unroll
            for (int k = 0; k < PER<T>; k++)
                size[k] = fmaxf(size[k], finite_size(part[k]));
        }
    }
#pragma unroll
    for (int k = 0; k < PER<T>; k++)
        if (col + k < a.cols && size[k] > 0)
            atomicMax(&of_scale[col + k], __float_as_uint(size[k]));
}

template <class T>
static __device__ __forceinline__ void largest(const arrays &a, unsigned *of_scale)
{
    if (a.by == BY_ROW)
        largest_of_row<T>(a, of_scale);
    else if (a.by == BY_CHANNEL)
        largest_of_columns<T>(a, of_scale);
    else
        largest_of_tensor<T>(a, of_scale);
}

/* The factor for a chunk of block `at`, whose largest number is `size`; the block's first lane stores
 * the scale. */
template <class F>
static __device__ __forceinline__ float factor_of_block(const arrays &a, float size, long long at,
                                                        bool first)
{
    if (F::SCALES == FLOATS) {
        quantiser q = quantiser_to(F::LARGEST, size);
        if (first)
            ((float *)a.scales)[at] = q.scale;
        return q.factor;
    }
    float encode = F::SCALES == TWO_LEVELS ? *a.factors : 0;
    unsigned code = F::SCALES == POWERS ? e8m0_of(size, F::TOP) : nvfp4_scale(size, encode);
    if (first)
        ((unsigned char *)a.scales)[at] = (unsigned char)code;
    return F::SCALES == POWERS ? factor_of_e8m0(code) : nvfp4_factor(code, encode);
}

/* What a thread takes in turn k: `step` numbers of a row, of which a row has per_row. Rows that are at
 * least a block of threads long have blocks of their own, and no thread divides. */
struct spot {
    long long row;
    int col;
    bool inside;
};
static __device__ __forceinline__ spot spot_in_turn(const arrays &a, int turns, int k, unsigned per_row,
                                                    int step)
{
    unsigned tile = turns * BLOCK;
    if (per_row >= tile) {
        unsigned tiles = (per_row + tile - 1) / tile, row = blockIdx.x / tiles;
        unsigned at = (blockIdx.x - row * tiles) * tile + k * BLOCK + threadIdx.x;
        return spot{row, (int)at * step, at < per_row && (int)at * step < a.cols};
    }
    unsigned i = blockIdx.x * tile + k * BLOCK + threadIdx.x, row = i / per_row;
    int col = (int)(i - row * per_row) * step;
    return spot{row, col, row < a.rows && col < a.cols};
}

template <class F, class T>
static __device__ __forceinline__ void quantise_chunk(const arrays &a, spot p, unsigned lanes,
                                                      bool vectors, const uint4 (&raw)[CHUNK / PER<T>])
{
    float x[CHUNK], factor = 1;
    widen_chunk<T>(raw, x);
    if (a.by == BY_BLOCKS && !(F::SCALES == FLOATS && a.factors)) {
        bool first = p.row < a.rows && p.col < a.cols && (p.col & (a.block - 1)) == 0;
        factor = factor_of_block<F>(a, max_lanes(largest_of(x), lanes),
                                    p.row * blocks_of(a) + block_of(a, p.col), first);
    } else if (a.by == BY_CHANNEL) {
#pragma unroll
        for (int k = 0; k < CHUNK; k++)
            x[k] *= p.col + k < a.cols ? a.factors[p.col + k] : 0;
    } else if (p.inside) {
        factor = a.factors[place_of_scale(a, p.row, p.col)];
    }
    if (p.inside)
        finish_chunk<F>(a, p.row, p.col, vectors, x, factor);
}

/* Where rows are whole blocks and vectors, the array is one long row of them: no thread needs to know
 * its row. */
template <class F, class T> static __device__ __forceinline__ void quantise_flat(const arrays &a)
{
    // What an earlier launch has read last still is in the L2, so that comes first.
    unsigned block = F::SCALES == TWO_LEVELS ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
    unsigned i = block * BLOCK + threadIdx.x;
    const unsigned log = F::SCALES == POWERS       ? 1
                         : F::SCALES == TWO_LEVELS ? 0
                                                   : 31 - __clz(a.block / CHUNK);
    const unsigned lanes = 1u << log, at = i >> log;
    bool inside = i < a.rows * a.cols / CHUNK, first = inside && (i & (lanes - 1)) == 0;
    uint4 raw[CHUNK / PER<T>] = {};
    unsigned codes[CHUNK * F::BITS / 32];
    if (inside)
        load_vectors<T>((const T *)a.x + (size_t)i * CHUNK, raw);
    if constexpr (IS_PACKED<F, T>) {
        unsigned scale = e8m0_of(max_lanes(largest_packed(raw), lanes), F::TOP);
        if (!inside)
            return;
        if (first)
            ((unsigned char *)a.scales)[at] = (unsigned char)scale;
        pack_chunk(raw, scale, codes);
    } else if constexpr (IS_IN_PAIRS<F, T>) {
        if (!inside)
            return;
        float size = largest_size<T>(raw), encode = *a.factors;
        unsigned scale = nvfp4_scale(size, encode);
        if (size < INFINITY && scale >= E4M3_LEAST_NORMAL && scale < E4M3_LARGEST) {
            float factor = nvfp4_factor(scale, encode);
            unsigned sixteen = keep(16);
            ((unsigned char *)a.scales)[i] = (unsigned char)scale;
#pragma unroll
            for (int v = 0; v < CHUNK / 8; v++)
                codes[v] = eight_codes<T>(raw[v], factor, sixteen);
        } else { // nearly nothing, or cut off, or not finite
            float x[CHUNK];
            widen_chunk<T>(raw, x);
            float factor = factor_of_block<F>(a, largest_of(x), i, true);
#pragma unroll
            for (int k = 0; k < CHUNK; k++)
                x[k] *= factor;
            pack_all<F>(x, codes);
        }
    } else {
        float x[CHUNK];
        widen_chunk<T>(raw, x);
        float factor = factor_of_block<F>(a, max_lanes(largest_of(x), lanes), at, first);
        if (!inside)
            return;
#pragma unroll
        for (int k = 0; k < CHUNK; k++)
            x[k] *= factor;
        pack_all<F>(x, codes);
    }
    store_vectors<F>(a.q + (size_t)i * (CHUNK * F::BITS / 8), codes);
}

/* The lanes of a block of numbers lie side by side: rows end with its last lane. */
template <class F, class T> static __device__ __forceinline__ void quantise(const arrays &a)
{
    if (a.by == BY_BLOCKS && !(F::SCALES == FLOATS && a.factors) && !a.stochastic &&
        (a.cols & (a.block - 1)) == 0 && in_vectors<F, T>(a)) {
        quantise_flat<F, T>(a);
        return;
    }
    unsigned lanes = a.by == BY_BLOCKS ? a.block / CHUNK : 1;
    unsigned chunks = a.by == BY_BLOCKS ? blocks_of(a) * lanes : (a.cols + CHUNK - 1) / CHUNK;
    bool vectors = in_vectors<F, T>(a);
    uint4 raw[CHUNK / PER<T>] = {};
    spot p = spot_in_turn(a, 1, 0, chunks, CHUNK);
    if (p.inside)
        load_chunk<T>(a, p.row, p.col, vectors, raw);
    quantise_chunk<F, T>(a, p, lanes, vectors, raw);
}

/* PER<T> numbers are a thread's: 16 bytes where they are stored. */
template <class F, class T> static constexpr int WORDS = (PER<T> * F::BITS + 31) / 32;

template <class F, class T>
static __device__ __forceinline__ void load_codes(const arrays &a, spot p, bool vectors,
                                                  unsigned (&codes)[WORDS<F, T>])
{
    const unsigned char *q = a.q + p.row * bytes_of<F>(a.cols) + p.col * F::BITS / 8;
    const int bytes = PER<T> * F::BITS / 8;
    if (vectors && bytes == 2) {
        codes[0] = *(const unsigned short *)q;
    } else if (vectors && bytes == 4) {
        codes[0] = load_stream((const unsigned *)q);
    } else if (vectors) {
        uint2 both = *(const uint2 *)q;
        codes[0] = both.x, codes[WORDS<F, T> - 1] = both.y;
    } else {
#pragma unroll
        for (int k = 0; k < bytes; k++)
            if (p.col + k * 8 / F::BITS < a.cols)
                codes[k / 4] |= (unsigned)q[k] << k % 4 * 8;
    }
}

template <class F, class T>
static __device__ __forceinline__ void finish_codes(const arrays &a, spot p, bool vectors,
                                                    const unsigned (&codes)[WORDS<F, T>], float scale)
{
    float x[PER<T>];
    T *y = (T *)a.x + p.row * a.cols + p.col;
#pragma unroll
    for (int k = 0; k < PER<T>; k += 4)
        F::unpack(F::BITS == 8 ? codes[k / 4] : codes[0] >> k * 4, x + k);
#pragma unroll
    for (int k = 0; k < PER<T>; k++) {
        if (F::SCALES == FLOATS && a.by == BY_CHANNEL)
            scale = p.col + k < a.cols ? ((const float *)a.scales)[p.col + k] : 0;
        x[k] *= scale;
    }
    if (vectors) {
        store_stream((uint4 *)y, narrow_all<T>(x));
        return;
    }
#pragma unroll
    for (int k = 0; k < PER<T>; k++)
        if (p.col + k < a.cols)
            narrow(x[k], &y[k]);
}

template <class F, class T> static __device__ __forceinline__ void dequantise(const arrays &a)
{
    unsigned wide = (a.cols + PER<T> - 1) / PER<T>, codes[UNROLL][WORDS<F, T>] = {};
    bool vectors = a.cols % PER<T> == 0 && (size_t)a.x % 16 == 0 &&
                   (size_t)a.q % (PER<T> * F::BITS / 8) == 0;
    spot p[UNROLL];
    float scale[UNROLL];
#pragma unroll
    for (int k = 0; k < UNROLL; k++) {
        p[k] = spot_in_turn(a, UNROLL, k, wide, PER<T>);
        if (!p[k].inside)
            continue;
        load_codes<F, T>(a, p[k], vectors, codes[k]);
        scale[k] = F::SCALES == FLOATS
                       ? ((const float *)a.scales)[place_of_scale(a, p[k].row, p[k].col)]
                       : scale_at<F>(a, p[k].row * blocks_of(a) + block_of(a, p[k].col));
    }
    if (F::BITS == 8 && vectors && threadIdx.x == 0 && p[0].inside) {
        long long part = p[0].row * bytes_of<F>(a.cols) + p[0].col;
        if (((size_t)a.q + part) % 16 == 0)
            prefetch_later(a.q + part, UNROLL * BLOCK * PER<T>,
                           a.rows * bytes_of<F>(a.cols) - part, AHEAD);
    }
#pragma unroll
    for (int k = 0; k < UNROLL; k++)
        if (p[k].inside)
            finish_codes<F, T>(a, p[k], vectors, codes[k], scale[k]);
}

ALL_KERNELS(ONE_KERNEL, quantise)
ALL_KERNELS(ONE_KERNEL, dequantise)
#include "scales.h"
LARGEST_KERNELS(largest)
