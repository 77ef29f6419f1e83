/*
 * tensors.h: many tensors in one launch. A table in device memory has a row for each; their elements are
 * divided into units of UNIT, which are numbered over all tensors, and a block finds the tensor of its
 * unit by a search. Places are bytes from a base, which is 0 where the table has addresses.
 */
#ifndef LOCKSTEP_KERNELS_TENSORS_H
#define LOCKSTEP_KERNELS_TENSORS_H

#define UNIT 2048 // elements; src/zoo/tensors.h has the same

struct tensor {
    long long param, grad, mean, square, master; // places
    long long count, first;                      // of elements; of units before this tensor
    long long unused;
};

/* The tensor of a unit, for every thread of a warp: 32 rows are looked at a time, so that a thousand
 * tensors take two steps. */
static __device__ __forceinline__ int find_tensor(const tensor *table, int tensors, long long unit)
{
    int low = 0, high = tensors, lane = threadIdx.x % 32;
    while (high - low > 1) {
        int step = (high - low + 31) / 32, probe = low + lane * step;
        bool before = probe < high && table[probe].first <= unit;
        int last = 31 - __clz(__ballot_sync(0xffffffff, before)); // lane 0 always is
        low += last * step;
        high = min(low + step, high);
    }
    return low;
}

/* Four neighbours at a time, in 16 bytes of f32 or 8 of bf16; as load_once and store_stream do it. */
static __device__ __forceinline__ uint2 load_once(const uint2 *at)
{
    uint2 v;
    asm volatile("ld.global.L1::no_allocate.v2.u32 {%0, %1}, [%2];"
                 : "=r"(v.x), "=r"(v.y)
                 : "l"(at));
    return v;
}
static __device__ __forceinline__ void store_stream(uint2 *at, uint2 v)
{
    asm volatile("st.global.cs.v2.u32 [%0], {%1, %2};" ::"l"(at), "r"(v.x), "r"(v.y) : "memory");
}
static __device__ __forceinline__ void load_four(const float *at, float (&x)[4])
{
    uint4 v = load_once((const uint4 *)at);
    x[0] = __uint_as_float(v.x), x[1] = __uint_as_float(v.y);
    x[2] = __uint_as_float(v.z), x[3] = __uint_as_float(v.w);
}
static __device__ __forceinline__ void load_four(const bf16 *at, float (&x)[4])
{
    uint2 v = load_once((const uint2 *)at);
    float2 low = widen_pair(v.x, bf16()), high = widen_pair(v.y, bf16());
    x[0] = low.x, x[1] = low.y, x[2] = high.x, x[3] = high.y;
}
static __device__ __forceinline__ void store_four(float *at, const float (&x)[4])
{
    store_stream((uint4 *)at, make_uint4(__float_as_uint(x[0]), __float_as_uint(x[1]),
                                         __float_as_uint(x[2]), __float_as_uint(x[3])));
}
static __device__ __forceinline__ void store_four(bf16 *at, const float (&x)[4])
{
    store_stream((uint2 *)at, make_uint2(narrow_pair(x[0], x[1], bf16()),
                                         narrow_pair(x[2], x[3], bf16())));
}

#endif
