/*
 * passes.cu: a launch for each bit: a thread takes a sum and a difference. Between the first and the
 * last launch the numbers are f32 in the workspace, and go there and back each time.
 */
// arch: sm_80
#include "butterflies.h"

#define BLOCK 256 // tune: 128 256 512

/* In and Out are the arrays' types; they may be one array. */
template <class In, class Out>
static __device__ __forceinline__ void do_bit(const In *in, Out *out, long long pairs, int bit,
                                              float scale)
{
    long long i = (long long)blockIdx.x * BLOCK + threadIdx.x;
    if (i >= pairs)
        return;
    long long at = (i >> bit << (bit + 1)) + (i & ((1LL << bit) - 1));
    float low = widen(in[at]), high = widen(in[at + (1LL << bit)]);
    narrow((low + high) * scale, &out[at]);
    narrow((low - high) * scale, &out[at + (1LL << bit)]);
}

#define BIT(name, In, Out)                                                                         \
    extern "C" __global__ void __launch_bounds__(BLOCK)                                            \
        name(const In *in, Out *out, long long pairs, int bit, float scale)                        \
    {                                                                                              \
        do_bit(in, out, pairs, bit, scale);                                                        \
    }
#define PASSES(type, T)                                                                            \
    BIT(first_##type, T, float)                                                                    \
    BIT(last_##type, float, T)                                                                     \
    BIT(only_##type, T, T)
FOR_TYPES(PASSES)
BIT(between, float, float)
