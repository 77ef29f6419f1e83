/*
 * separate.cu: what a program without fusion does: a kernel for the bias, one for the function, one for
 * dropout, one for the sum, each of which reads and writes whole arrays. In f32, where the roundings in
 * between do not show. Each takes 16 bytes at a time and reaches the memory's speed by itself.
 */
// arch: sm_80
#include "chains.h"

#define BLOCK 256 // tune: 128 256 512 1024

/* a: of x; b: of y, which may be one row that is the same for all; words: for dropout. */
struct Add {
    enum { draws = false };
    static __device__ float of(float a, float b, dropout, uint4, int) { return a + b; }
};
struct ApplyGelu {
    enum { draws = false };
    static __device__ float of(float a, float, dropout, uint4, int) { return gelu(a); }
};
struct ApplyGeluTanh {
    enum { draws = false };
    static __device__ float of(float a, float, dropout, uint4, int) { return gelu_tanh(a); }
};
struct Drop {
    enum { draws = true };
    static __device__ float of(float a, float, dropout d, uint4 words, int k)
    {
        return drop(d, words, k, a);
    }
};

/* y[i % cols] belongs to x[i]; y may be NULL. */
template <class Step>
static __device__ __forceinline__ void do_step(const float *x, const float *y, float *out, long long n,
                                               long long cols, dropout d)
{
    long long first = ((long long)blockIdx.x * BLOCK + threadIdx.x) * 4;
    if (first >= n)
        return;
    uint4 words = Step::draws ? half_words<4>(d.stream, first) : make_uint4(0, 0, 0, 0);
    if (((size_t)x | (size_t)y | (size_t)out) % 16 == 0 && cols % 4 == 0 && first + 4 <= n) {
        float4 a = *(const float4 *)(x + first), b = make_float4(0, 0, 0, 0);
        if (y)
            b = *(const float4 *)(y + (cols < n ? first % cols : first));
        *(float4 *)(out + first) =
            make_float4(Step::of(a.x, b.x, d, words, 0), Step::of(a.y, b.y, d, words, 1),
                        Step::of(a.z, b.z, d, words, 2), Step::of(a.w, b.w, d, words, 3));
        return;
    }
#pragma unroll 1
    for (int k = 0; k < 4 && first + k < n; k++)
        out[first + k] = Step::of(x[first + k], y ? y[(first + k) % cols] : 0.0f, d, words, k);
}

#define STEP(name, Step)                                                                           \
    extern "C" __global__ void __launch_bounds__(BLOCK)                                            \
        name(const float *x, const float *y, float *out, long long n, long long cols,              \
             unsigned threshold, float scale, long long seed, long long offset,                    \
             const long long *state)                                                               \
    {                                                                                              \
        do_step<Step>(x, y, out, n, cols,                                                          \
                      dropout{stream_of(seed, offset, state), threshold, scale});                  \
    }
STEP(add, Add)
STEP(apply_gelu, ApplyGelu)
STEP(apply_gelu_tanh, ApplyGeluTanh)
STEP(apply_dropout, Drop)
