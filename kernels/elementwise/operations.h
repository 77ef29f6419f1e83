/*
 * operations.h: what every variant shares: the four operations, the kernels' one list of arguments,
 * and how the arrays are cut into 16-byte vectors. A variant is a template over the operation;
 * KERNELS(variant, threads) at its file's end makes add, scale, relu and saxpy of it.
 */
#ifndef LOCKSTEP_ELEMENTWISE_OPERATIONS_H
#define LOCKSTEP_ELEMENTWISE_OPERATIONS_H

/* of: one element; two: whether y is read as well as x. */
struct Add {
    enum { two = true };
    static __device__ float of(float x, float y, float scalar) { return x + y; }
};
struct Scale {
    enum { two = false };
    static __device__ float of(float x, float y, float scalar) { return scalar * x; }
};
struct Relu {
    enum { two = false };
    // Keeps NaN.
    static __device__ float of(float x, float y, float scalar) { return x < 0 ? 0 : x; }
};
struct Saxpy {
    enum { two = true };
    static __device__ float of(float x, float y, float scalar) { return fmaf(scalar, x, y); }
};

template <class Op> static __device__ float4 of_four(float4 x, float4 y, float scalar)
{
    return make_float4(Op::of(x.x, y.x, scalar), Op::of(x.y, y.y, scalar),
                       Op::of(x.z, y.z, scalar), Op::of(x.w, y.w, scalar));
}

/* All have the same arguments, so that the host launches them alike; saxpy's out is its y. */
#define ONE_KERNEL(name, Op, variant, threads)                                                     \
    extern "C" __global__ void __launch_bounds__(threads) name(                                    \
        const float *x, const float *y, float *out, float scalar, long long n)                     \
    {                                                                                              \
        variant<Op>(x, y, out, scalar, n);                                                         \
    }
#define KERNELS(variant, threads)                                                                  \
    ONE_KERNEL(add, Add, variant, threads)                                                         \
    ONE_KERNEL(scale, Scale, variant, threads)                                                     \
    ONE_KERNEL(relu, Relu, variant, threads)                                                       \
    ONE_KERNEL(saxpy, Saxpy, variant, threads)

/* Vectors need all arrays to lie alike towards 16 bytes; where they do not, there are none. */
struct parts {
    long long head;    // elements before the first vector
    long long vectors; // of four elements
    long long tail;    // index of the first element after them
};

static __device__ bool lie_alike(const float *x, const float *y, const float *out)
{
    return ((((size_t)x ^ (size_t)out) | ((size_t)y ^ (size_t)out)) & 15) == 0;
}

static __device__ long long before_vectors(const float *out) // elements, if there are that many
{
    return ((16 - ((size_t)out & 15)) & 15) / 4;
}

static __device__ parts split(const float *x, const float *y, const float *out, long long n)
{
    parts p;
    p.head = min(n, before_vectors(out));
    p.vectors = lie_alike(x, y, out) ? (size_t)(n - p.head) / 4 : 0;
    p.tail = p.head + p.vectors * 4;
    return p;
}

/* The elements before and after the vectors, by the first threads; or all of them. */
template <class Op>
static __device__ __forceinline__ void do_ends(parts p, const float *x, const float *y, float *out,
                                               float scalar, long long n)
{
    long long me = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (me < p.head)
        out[me] = Op::of(x[me], y[me], scalar);
#pragma unroll 1
    for (long long i = p.tail + me; i < n; i += (long long)gridDim.x * blockDim.x)
        out[i] = Op::of(x[i], y[i], scalar);
}

#endif
