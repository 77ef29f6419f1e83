/*
 * scales.h: the small kernel between the pass that finds the largest numbers and the one that
 * quantises: from the largest number to the scale and to its inverse. And where scales are given:
 * only the inverse.
 */
#ifndef LOCKSTEP_QUANTISE_SCALES_H
#define LOCKSTEP_QUANTISE_SCALES_H

/* factors: the bits of the largest numbers, which become one over the scales. */
extern "C" __global__ void __launch_bounds__(BLOCK)
    make_scales(float *factors, float *scales, long long count, float target, int given)
{
    long long i = (long long)blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
    quantiser q = given ? quantiser{__fdiv_rn(1, scales[i]), scales[i]}
                        : quantiser_to(target, factors[i]);
    factors[i] = q.factor;
    if (!given)
        scales[i] = q.scale;
}

#define LARGEST_KERNEL(name, pass, T)                                                              \
    extern "C" __global__ void __launch_bounds__(BLOCK)                                            \
        name(T *x, unsigned *of_scale, long long rows, int cols, int by, int block)                \
    {                                                                                              \
        pass<T>(arrays{x, 0, 0, 0, 0, rows, cols, by, block}, of_scale);                           \
    }
#define LARGEST_KERNELS(pass)                                                                      \
    LARGEST_KERNEL(pass##_f32, pass, float)                                                        \
    LARGEST_KERNEL(pass##_f16, pass, f16)                                                          \
    LARGEST_KERNEL(pass##_bf16, pass, bf16)

#endif
