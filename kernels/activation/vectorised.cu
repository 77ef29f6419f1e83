/*
 * vectorised.cu: 16 bytes of each array at a time, by a grid that walks over them: an eighth of the
 * instructions for loads and stores in bf16, and a warp asks for 512 bytes before it has to wait. Where
 * rows are no multiple of 16 bytes, one element at a time.
 */
// arch: sm_80
#include "passes.h"

#define BLOCK 256 // tune: 128 256 512 1024
#define BLOCKS_PER_SM 8 // tune: 2 4 8 16 32

template <class Pass, class T>
static __device__ __forceinline__ void vectorised(arrays<T> a, long long rows)
{
    bool vectors = in_vectors<Pass>(a), one_row = a.stride == a.cols;
    int step = vectors ? PER<T> : 1;
    long long all = rows * a.cols;
#pragma unroll 1
    for (long long i = ((long long)blockIdx.x * BLOCK + threadIdx.x) * step; i < all;
         i += (long long)gridDim.x * BLOCK * step) {
        long long row = one_row ? 0 : i / a.cols, column = i - row * a.cols;
        if (vectors) {
            long long wide = row * a.stride + column;
            do_vector<Pass>(a, wide, i, load_vector<Pass>(a, wide, i));
        } else {
            do_element<Pass>(a, row, column);
        }
    }
}

KERNELS(vectorised, BLOCK)
