/*
 * generic.h: any operation on any element type with the techniques of vectorised.cu: 16-byte loads,
 * UNROLL in flight, two passes. generic.cu and generic_overlapped.cu make kernels of it.
 *
 * An operation says what a thread starts from (identity), how an element enters (lift), how two
 * accumulators become one (combine), and what the result is (finish). NaN wins every comparison, as
 * in PyTorch; of equal values argmax takes the first. bf16 is summed and compared as float.
 */
#ifndef LOCKSTEP_REDUCTION_GENERIC_H
#define LOCKSTEP_REDUCTION_GENERIC_H

#include "device.h"

/* Element types --------------------------------------------------------------------------------*/

struct bf16 {
    unsigned short bits;
};

static __device__ float widen(float x) { return x; }
static __device__ double widen(double x) { return x; }
static __device__ int widen(int x) { return x; }
static __device__ float widen(bf16 x) { return __uint_as_float((unsigned)x.bits << 16); }

static __device__ float lowest(float) { return -INFINITY; }
static __device__ double lowest(double) { return -INFINITY; }
static __device__ int lowest(int) { return INT_MIN; }
static __device__ float highest(float) { return INFINITY; }
static __device__ double highest(double) { return INFINITY; }
static __device__ int highest(int) { return INT_MAX; }

/* Operations on values of type V ---------------------------------------------------------------*/

template <class V> struct Plain { // the accumulator is a value, and so is the result
    typedef V Acc;
    typedef V Out;
    static __device__ V lift(V x, long long) { return x; }
    static __device__ V finish(V a) { return a; }
    static __device__ V from_above(V a, int lanes) { return __shfl_down_sync(0xffffffff, a, lanes); }
};

template <class V> struct Sum : Plain<V> {
    static __device__ V identity() { return 0; }
    static __device__ V combine(V a, V b) { return a + b; }
};

template <class V> struct Min : Plain<V> {
    static __device__ V identity() { return highest(V()); }
    static __device__ V combine(V a, V b) { return a < b || a != a ? a : b; }
};

template <class V> struct Max : Plain<V> {
    static __device__ V identity() { return lowest(V()); }
    static __device__ V combine(V a, V b) { return a > b || a != a ? a : b; }
};

template <class V> struct Argmax {
    struct Acc {
        V value;
        unsigned long long index; // ~0: no element yet
    };
    typedef long long Out;
    static __device__ Acc identity() { return Acc{lowest(V()), ~0ull}; }
    static __device__ Acc lift(V x, long long index) { return Acc{x, (unsigned long long)index}; }
    static __device__ Out finish(Acc a) { return (Out)a.index; }
    static __device__ Acc combine(Acc a, Acc b)
    {
        bool a_nan = a.value != a.value, b_nan = b.value != b.value;
        bool first = a.value == b.value || (a_nan && b_nan) ? a.index < b.index
                                                            : a.value > b.value || a_nan;
        return first ? a : b;
    }
    static __device__ Acc from_above(Acc a, int lanes)
    {
        return Acc{__shfl_down_sync(0xffffffff, a.value, lanes),
                   __shfl_down_sync(0xffffffff, a.index, lanes)};
    }
};

/* A thread's share -----------------------------------------------------------------------------*/

template <class T> union Vector {
    uint4 words;
    T element[16 / sizeof(T)];
};

template <class Op, class T>
static __device__ __forceinline__ typename Op::Acc add_vector(typename Op::Acc a, Vector<T> v,
                                                              long long index)
{
#pragma unroll
    for (int k = 0; k < (int)(16 / sizeof(T)); k++)
        a = Op::combine(a, Op::lift(widen(v.element[k]), index + k));
    return a;
}

template <class Op, class T, int UNROLL>
static __device__ __forceinline__ typename Op::Acc share(const T *in, long long n)
{
    const long long PER = 16 / sizeof(T); // elements of a vector
    typename Op::Acc a = Op::identity();
    long long head = min(n, (long long)((16 - (size_t)in % 16) % 16 / sizeof(T)));
    long long count = (n - head) / PER, tail = head + count * PER;
    long long me = (long long)blockIdx.x * blockDim.x + threadIdx.x, i = me;
    // keep: the compiler then puts each load's address together from its number.
    long long threads = keep(gridDim.x * blockDim.x);
    const T *body = in + head;
    for (; i + (UNROLL - 1) * threads < count; i += UNROLL * threads) {
        Vector<T> v[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            v[k].words = load_stream((const uint4 *)(body + (i + k * threads) * PER));
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            a = add_vector<Op, T>(a, v[k], head + (i + k * threads) * PER);
    }
    Vector<T> rest[UNROLL];
#pragma unroll
    for (int k = 0; k < UNROLL - 1; k++)
        if (i + k * threads < count)
            rest[k].words = load_stream((const uint4 *)(body + (i + k * threads) * PER));
    // Elements before the first 16-byte boundary and after the last: one each for the first threads.
    long long one = me < head ? me : tail + me - head;
    if (one < n)
        a = Op::combine(a, Op::lift(widen(in[one]), one));
#pragma unroll
    for (int k = 0; k < UNROLL - 1; k++)
        if (i + k * threads < count)
            a = add_vector<Op, T>(a, rest[k], head + (i + k * threads) * PER);
    return a;
}

/* Of the accumulators that the first pass left, for a single block. One turn does for most. */
template <class Op, int UNROLL>
static __device__ __forceinline__ typename Op::Acc share_of_partials(const typename Op::Acc *in,
                                                                     int n)
{
    typename Op::Acc a = Op::identity();
    int threads = blockDim.x;
#pragma unroll 1
    for (int i = threadIdx.x; i < n; i += UNROLL * threads) {
        typename Op::Acc v[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            v[k] = i + k * threads < n ? in[i + k * threads] : Op::identity();
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            a = Op::combine(a, v[k]);
    }
    return a;
}

/* Of warps and blocks --------------------------------------------------------------------------*/

template <class Op>
static __device__ __forceinline__ typename Op::Acc warp_reduce(typename Op::Acc a)
{
    for (int lanes = 16; lanes > 0; lanes /= 2)
        a = Op::combine(a, Op::from_above(a, lanes));
    return a;
}

/* Thread 0 gets the accumulator of the whole block, which is whole warps. */
template <class Op>
static __device__ __forceinline__ typename Op::Acc block_reduce(typename Op::Acc a)
{
    __shared__ typename Op::Acc of_warp[32];
    unsigned thread = threadIdx.x, warps = blockDim.x / 32;
    a = warp_reduce<Op>(a);
    if (thread % 32 == 0)
        of_warp[thread / 32] = a;
    __syncthreads();
    if (thread < 32)
        a = warp_reduce<Op>(thread < warps ? of_warp[thread] : Op::identity());
    return a;
}

/* The two passes ------------------------------------------------------------------------------*/

/* Each block leaves its accumulator, or the result if there is only one block. */
template <class Op, class T, int UNROLL>
static __device__ __forceinline__ void first_pass(const T *in, long long n,
                                                  typename Op::Acc *partials,
                                                  typename Op::Out *result)
{
    typename Op::Acc a = block_reduce<Op>(share<Op, T, UNROLL>(in, n));
    if (threadIdx.x == 0 && gridDim.x == 1)
        *result = Op::finish(a);
    else if (threadIdx.x == 0)
        partials[blockIdx.x] = a;
}

/* By one block. */
template <class Op, int UNROLL>
static __device__ __forceinline__ void last_pass(const typename Op::Acc *partials, int n,
                                                 typename Op::Out *result)
{
    typename Op::Acc a = block_reduce<Op>(share_of_partials<Op, UNROLL>(partials, n));
    if (threadIdx.x == 0)
        *result = Op::finish(a);
}

/* KERNELS(operation, Operation, type, T, V) for everything but the sum of floats, which the other
 * files show. V is what elements are combined as. */
#define EACH_OPERATION_AND_TYPE(KERNELS)                                                           \
    KERNELS(sum, Sum, f64, double, double)                                                         \
    KERNELS(sum, Sum, i32, int, int)                                                               \
    KERNELS(sum, Sum, bf16, bf16, float)                                                           \
    EACH_TYPE(KERNELS, min, Min)                                                                   \
    EACH_TYPE(KERNELS, max, Max)                                                                   \
    EACH_TYPE(KERNELS, argmax, Argmax)
#define EACH_TYPE(KERNELS, operation, Operation)                                                   \
    KERNELS(operation, Operation, f32, float, float)                                               \
    KERNELS(operation, Operation, f64, double, double)                                             \
    KERNELS(operation, Operation, i32, int, int)                                                   \
    KERNELS(operation, Operation, bf16, bf16, float)

#endif
