/*
 * step.h: what every variant shares: the step of one parameter, the three ways in which parameters are
 * kept, and the kernels' one list of arguments.
 *
 *   f32         parameters and gradients in f32
 *   master      in bf16, beside the parameters in f32 that the step works on
 *   stochastic  in bf16 alone, rounded up or down at random so that the mean is right
 *
 * A variant is a template over that; KERNELS(variant, threads) makes adamw_f32, adamw_master and
 * adamw_stochastic of it. The moments are f32.
 */
#ifndef LOCKSTEP_ADAMW_STEP_H
#define LOCKSTEP_ADAMW_STEP_H

#include "philox.h"
#include "rows.h"
#include "tensors.h"

struct F32 {
    typedef float number;
    enum { master = false, stochastic = false };
};
struct Master {
    typedef bf16 number;
    enum { master = true, stochastic = false };
};
struct Stochastic {
    typedef bf16 number;
    enum { master = false, stochastic = true };
};

/* What the host makes of the rates and the number of the step. */
struct rates {
    float keep;           // 1 - learning rate * decay
    float rest1, rest2;   // 1 - beta
    float step;           // learning rate / (1 - beta1^t)
    float root;           // 1 / sqrt(1 - beta2^t)
    float epsilon;
    float scale;          // of gradients
    random_stream stream; // for stochastic rounding
};

/* One parameter. */
static __device__ __forceinline__ void do_step(const rates &r, float gradient, float &mean,
                                               float &square, float &param)
{
    float g = gradient * r.scale;
    mean += r.rest1 * (g - mean);
    square += r.rest2 * (g * g - square);
    param = param * r.keep - r.step * mean / (sqrtf(square) * r.root + r.epsilon);
}

/* Up or down to a bf16, up as often as the part that is cut off says. */
static __device__ __forceinline__ float round_at_random(float x, unsigned bits)
{
    unsigned word = __float_as_uint(x);
    if ((word & 0x7f800000) == 0x7f800000) // infinity, NaN
        return x;
    return __uint_as_float((word + bits) & 0xffff0000);
}

/* One tensor's arrays. */
template <class Kind> struct arrays {
    typename Kind::number *param;
    const typename Kind::number *grad;
    float *mean, *square, *master;
    long long count, index; // its first element, counted over all tensors
};

struct bases {
    char *param;
    const char *grad;
    char *mean, *square, *master;
};
template <class Kind>
static __device__ __forceinline__ arrays<Kind> arrays_of(const bases &b, const tensor &t)
{
    typedef typename Kind::number number;
    return arrays<Kind>{(number *)(b.param + t.param), (const number *)(b.grad + t.grad),
                        (float *)(b.mean + t.mean),    (float *)(b.square + t.square),
                        (float *)(b.master + t.master), t.count, t.first * UNIT};
}

template <class Kind>
static __device__ __forceinline__ void do_element(const arrays<Kind> &a, const rates &r, long long i)
{
    float mean = a.mean[i], square = a.square[i];
    float param = Kind::master ? a.master[i] : widen(a.param[i]);
    do_step(r, widen(a.grad[i]), mean, square, param);
    a.mean[i] = mean;
    a.square[i] = square;
    if (Kind::master)
        a.master[i] = param;
    if (Kind::stochastic) {
        long long at = a.index + i;
        param = round_at_random(param, half_word(random_words(r.stream, at / 8), (int)(at % 8)));
    }
    narrow(param, &a.param[i]);
}

#define ONE_KERNEL(name, Kind, variant, threads)                                                   \
    extern "C" __global__ void __launch_bounds__(threads)                                          \
        name(char *param, const char *grad, char *mean, char *square, char *master,                \
             const tensor *table, int tensors, int from, float keep, float rest1, float rest2,     \
             float step, float root, float epsilon, const float *scale, long long seed,            \
             long long offset)                                                                     \
    {                                                                                              \
        rates r = {keep, rest1,   rest2,                                                           \
                   step, root,    epsilon,                                                         \
                   scale ? *scale : 1.0f, stream_of(seed, offset, nullptr)};                       \
        variant<Kind>(bases{param, grad, mean, square, master}, table, tensors, from, r);          \
    }
#define KERNELS(variant, threads)                                                                  \
    ONE_KERNEL(adamw_f32, F32, variant, threads)                                                   \
    ONE_KERNEL(adamw_master, Master, variant, threads)                                             \
    ONE_KERNEL(adamw_stochastic, Stochastic, variant, threads)

#endif
