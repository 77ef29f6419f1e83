/*
 * row_in_registers.cu: a block keeps a row in its registers, as it was loaded, from the search for its
 * largest number to the rounding: one launch and one read, where vectorised.cu has three and two.
 */
// arch: sm_90
#define CHUNK 8 // numbers: a vector of 16-bit ones, so that neighbouring threads load neighbouring ones
#include "chunks.h"

#define BLOCK 1024 // most threads; as many run as the row needs
#define CHUNKS 4 // of a thread, at most

template <class F, class T> static __device__ __forceinline__ void quantise(const arrays &a)
{
    __shared__ float of_warp[32];
    long long row = blockIdx.x;
    bool vectors = in_vectors<F, T>(a);
    uint4 raw[CHUNKS][CHUNK / PER<T>] = {};
    float size = 0;
#pragma unroll
    for (int c = 0; c < CHUNKS; c++) {
        int col = (int)(c * blockDim.x + threadIdx.x) * CHUNK;
        if (col < a.cols)
            load_chunk<T>(a, row, col, vectors, raw[c]);
    }
#pragma unroll
    for (int c = 0; c < CHUNKS; c++) {
        float x[CHUNK];
        if (c * (int)blockDim.x * CHUNK >= a.cols)
            break;
        widen_chunk<T>(raw[c], x);
        size = fmaxf(size, largest_of(x));
    }
    quantiser q = quantiser_to(F::LARGEST, max_block(size, of_warp));
    if (threadIdx.x == 0)
        ((float *)a.scales)[row] = q.scale;
#pragma unroll
    for (int c = 0; c < CHUNKS; c++) {
        float x[CHUNK];
        int col = (int)(c * blockDim.x + threadIdx.x) * CHUNK;
        if (c * (int)blockDim.x * CHUNK >= a.cols)
            break;
        widen_chunk<T>(raw[c], x);
        if (col < a.cols)
            finish_chunk<F>(a, row, col, vectors, x, q.factor);
    }
}

PLAIN_KERNELS(ONE_KERNEL, quantise)
