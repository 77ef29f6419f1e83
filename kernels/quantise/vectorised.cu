/*
 * vectorised.cu: a thread has 16 numbers in registers: 16 bytes of memory for each instruction, and
 * blocks that share a scale find their largest number by shuffles between 1, 2 or 8 lanes, so that
 * they are read once. For a whole row, column or array an earlier launch finds it, with one atomic for
 * each block of threads.
 */
// arch: sm_90
#include "chunks.h"

#define BLOCK 256 // tune: 128 256 512
#define ROWS 32 // tune: 16 32 64 128

template <class T> static __device__ __forceinline__ float largest_of_vector(uint4 raw)
{
    float part[PER<T>], size = 0;
    widen_all<T>(raw, part);
#pragma unroll
    for (int k = 0; k < PER<T>; k++)
        size = fmaxf(size, finite_size(part[k]));
    return size;
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

/* A vector at x, of which `left` numbers belong to the row. */
template <class T>
static __device__ __forceinline__ uint4 load_columns(const T *x, int left, bool vectors)
{
    vector<T> part;
    part.words = make_uint4(0, 0, 0, 0);
    if (vectors)
        return load_once((const uint4 *)x);
#pragma unroll
    for (int k = 0; k < PER<T>; k++)
        if (k < left)
            part.element[k] = x[k];
    return part.words;
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
                raw[r] = load_columns(x + r * (long long)a.cols, a.cols - col, vectors);
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

/* The factor for a chunk whose block's largest number is `size`; the block's first lane stores the
 * scale. */
template <class F>
static __device__ __forceinline__ float factor_of_block(const arrays &a, float size, long long row,
                                                        int col)
{
    bool first = row < a.rows && col < a.cols && col % a.block == 0;
    long long at = row * blocks_of(a) + col / a.block;
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

template <class F, class T> static __device__ __forceinline__ void quantise(const arrays &a)
{
    // The lanes of a block lie side by side: rows end with its last lane.
    unsigned lanes = a.by == BY_BLOCKS ? a.block / CHUNK : 1;
    unsigned chunks = a.by == BY_BLOCKS ? blocks_of(a) * lanes : (a.cols + CHUNK - 1) / CHUNK;
    unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    long long row = i / chunks;
    int col = (int)(i - (unsigned)row * chunks) * CHUNK;
    bool inside = row < a.rows && col < a.cols, vectors = in_vectors<F, T>(a);
    uint4 raw[CHUNK / PER<T>] = {};
    float x[CHUNK];
    if (inside)
        load_chunk<T>(a, row, col, vectors, raw);
    widen_chunk<T>(raw, x);
    if (a.by == BY_BLOCKS && !(F::SCALES == FLOATS && a.factors)) {
        float factor = factor_of_block<F>(a, max_lanes(largest_of(x), lanes), row, col);
        if (inside)
            finish_chunk<F>(a, row, col, vectors, x, factor);
    } else if (inside) {
        if (a.by == BY_CHANNEL) {
#pragma unroll
            for (int k = 0; k < CHUNK; k++)
                x[k] *= col + k < a.cols ? a.factors[col + k] : 0;
        }
        finish_chunk<F>(a, row, col, vectors, x,
                        a.by == BY_CHANNEL ? 1 : a.factors[place_of_scale(a, row, col)]);
    }
}

/* PER<T> numbers are a thread's: 16 bytes where they are stored. */
template <class F, class T> static __device__ __forceinline__ void dequantise(const arrays &a)
{
    const int words = (PER<T> * F::BITS + 31) / 32; // f32 of 4 bits: half a word
    unsigned wide = (a.cols + PER<T> - 1) / PER<T>, i = blockIdx.x * BLOCK + threadIdx.x;
    long long row = i / wide;
    int col = (int)(i - (unsigned)row * wide) * PER<T>, bytes = PER<T> * F::BITS / 8;
    if (row >= a.rows)
        return;
    const unsigned char *q = a.q + row * bytes_of<F>(a.cols) + col * F::BITS / 8;
    T *y = (T *)a.x + row * a.cols + col;
    bool vectors = a.cols % PER<T> == 0 && (size_t)a.x % 16 == 0 && (size_t)a.q % bytes == 0;
    unsigned codes[words] = {};
    float x[PER<T>];
    if (vectors && bytes == 2) {
        codes[0] = *(const unsigned short *)q;
    } else if (vectors && bytes == 4) {
        codes[0] = *(const unsigned *)q;
    } else if (vectors) {
        uint2 both = *(const uint2 *)q;
        codes[0] = both.x, codes[words - 1] = both.y;
    } else {
#pragma unroll
        for (int k = 0; k < PER<T> * F::BITS / 8; k++)
            if (col + k * 8 / F::BITS < a.cols)
                codes[k / 4] |= (unsigned)q[k] << k % 4 * 8;
    }
#pragma unroll
    for (int k = 0; k < PER<T>; k += 4)
        F::unpack(F::BITS == 8 ? codes[k / 4] : codes[0] >> k * 4, x + k);
    if (F::SCALES == FLOATS && a.by == BY_CHANNEL) {
#pragma unroll
        for (int k = 0; k < PER<T>; k++)
            x[k] *= col + k < a.cols ? ((const float *)a.scales)[col + k] : 0;
    } else {
        float scale = F::SCALES == FLOATS ? ((const float *)a.scales)[place_of_scale(a, row, col)]
                                          : scale_at<F>(a, row * blocks_of(a) + col / a.block);
#pragma unroll
        for (int k = 0; k < PER<T>; k++)
            x[k] *= scale;
    }
    if (vectors) {
        store_stream((uint4 *)y, narrow_all<T>(x));
        return;
    }
#pragma unroll
    for (int k = 0; k < PER<T>; k++)
        if (col + k < a.cols)
            narrow(x[k], &y[k]);
}

ALL_KERNELS(ONE_KERNEL, quantise)
ALL_KERNELS(ONE_KERNEL, dequantise)
#include "scales.h"
LARGEST_KERNELS(largest)
