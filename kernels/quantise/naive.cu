/*
 * naive.cu: three launches: every number meets the largest of its scale by an atomic; a thread for
 * each scale; a thread for each byte of the result. NVFP4 and MX look for the largest number of their
 * block once for each byte. One thread for each number on the way back.
 */
// arch: sm_90
#include "arrays.h"

#define BLOCK 256 // tune: 128 256 512

template <class T>
static __device__ __forceinline__ void largest(const arrays &a, unsigned *of_scale)
{
    long long i = (long long)blockIdx.x * BLOCK + threadIdx.x, row = i / a.cols;
    if (i < a.rows * a.cols)
        atomicMax(&of_scale[place_of_scale(a, row, (int)(i - row * a.cols))],
                  __float_as_uint(finite_size(widen(((const T *)a.x)[i]))));
}

/* Of a block, by each who asks. */
template <class F, class T>
static __device__ __forceinline__ float factor_of_block(const arrays &a, long long row, int col)
{
    int from = col / a.block * a.block, end = min(from + a.block, a.cols);
    float size = 0;
    for (int k = from; k < end; k++)
        size = fmaxf(size, finite_size(widen(((const T *)a.x)[row * a.cols + k])));
    unsigned char *scale = (unsigned char *)a.scales + row * blocks_of(a) + col / a.block;
    unsigned code = F::SCALES == POWERS ? e8m0_of(size, F::TOP) : nvfp4_scale(size, *a.factors);
    if (col == from)
        *scale = (unsigned char)code;
    return F::SCALES == POWERS ? factor_of_e8m0(code) : nvfp4_factor(code, *a.factors);
}

template <class F, class T>
static __device__ __forceinline__ unsigned quantise_one(const arrays &a, long long row, int col)
{
    if (col >= a.cols)
        return 0;
    float factor = F::SCALES == FLOATS ? a.factors[place_of_scale(a, row, col)]
                                       : factor_of_block<F, T>(a, row, col);
    float x = widen(((const T *)a.x)[row * a.cols + col]) * factor;
    if (a.stochastic) {
        uint4 r = random_at(a.key, row, col / 4 * 4);
        x = dither<F>(x, col % 2 ? col & 2 ? r.w : r.y : col & 2 ? r.z : r.x);
    }
    float four[4] = {x, 0, 0, 0};
    return F::pack(four) & ((1u << F::BITS) - 1);
}

template <class F, class T> static __device__ __forceinline__ void quantise(const arrays &a)
{
    long long i = (long long)blockIdx.x * BLOCK + threadIdx.x, bytes = bytes_of<F>(a.cols);
    long long row = i / bytes;
    int byte = (int)(i - row * bytes);
    if (row >= a.rows)
        return;
    unsigned code = F::BITS == 8 ? quantise_one<F, T>(a, row, byte)
                                 : quantise_one<F, T>(a, row, 2 * byte) |
                                       quantise_one<F, T>(a, row, 2 * byte + 1) << 4;
    a.q[i] = (unsigned char)code;
}

template <class F, class T> static __device__ __forceinline__ void dequantise(const arrays &a)
{
    long long i = (long long)blockIdx.x * BLOCK + threadIdx.x, row = i / a.cols;
    int col = (int)(i - row * a.cols);
    if (row >= a.rows)
        return;
    float x[4];
    unsigned byte = a.q[row * bytes_of<F>(a.cols) + (F::BITS == 8 ? col : col / 2)];
    F::unpack(F::BITS == 8 ? byte : byte >> col % 2 * 4, x);
    float scale = F::SCALES == FLOATS ? ((const float *)a.scales)[place_of_scale(a, row, col)]
                                      : scale_at<F>(a, row * blocks_of(a) + col / a.block);
    narrow(x[0] * scale, &((T *)a.x)[i]);
}

ALL_KERNELS(ONE_KERNEL, quantise)
ALL_KERNELS(ONE_KERNEL, dequantise)
#include "scales.h"
LARGEST_KERNELS(largest)
