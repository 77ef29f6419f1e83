/*
 * vectorised.cu: forward: the whole chain in registers, 16 bytes of each array at a time, by a grid
 * that walks over them. A division for each vector finds the columns of the bias.
 */
// arch: sm_80
#include "chains.h"

#define BLOCK 256 // tune: 128 256 512 1024
#define BLOCKS_PER_SM 8 // tune: 2 4 8 16 32

template <class Chain, class T>
static __device__ __forceinline__ void vectorised(arrays<T> a, dropout d)
{
    bool vectors = in_vectors(a, d);
    int step = vectors ? PER<T> : 1;
    long long all = a.rows * a.cols;
    round_keys keys = keys_of(d.stream.seed);
#pragma unroll 1
    for (long long i = ((long long)blockIdx.x * BLOCK + threadIdx.x) * step; i < all;
         i += (long long)gridDim.x * BLOCK * step) {
        long long row = i / a.cols, column = i - row * a.cols;
        if (vectors)
            do_vector<Chain>(a, d, keys, i, *(const uint4 *)(a.bias + column),
                             load_vector<Chain>(a, i));
        else
            do_element<Chain>(a, d, row, column);
    }
}

FORWARD_KERNELS(vectorised, BLOCK)
