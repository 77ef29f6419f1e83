/*
 * warp_per_row.cu: the blocks of GGUF files as they are. A warp takes a row of W: its lanes decode
 * different blocks, neighbours next to each other, and what was decoded meets up to MOST rows of x
 * before it is dropped.
 */
// arch: sm_80
#include "weights.h"

#define BLOCK 256 // tune: 64 128 256
#define MOST 8 // tune: 4 8 16

/* Four numbers of x. */
static __device__ __forceinline__ void load_quad(const bf16 *x, float (&q)[4])
{
    uint2 v = *(const uint2 *)x;
    float2 low = widen_pair(v.x, bf16()), high = widen_pair(v.y, bf16());
    q[0] = low.x, q[1] = low.y, q[2] = high.x, q[3] = high.y;
}
static __device__ __forceinline__ void load_quad(const f16 *x, float (&q)[4])
{
    uint2 v = *(const uint2 *)x;
    float2 low = widen_pair(v.x, f16()), high = widen_pair(v.y, f16());
    q[0] = low.x, q[1] = low.y, q[2] = high.x, q[3] = high.y;
}

template <class L, class T>
static __device__ __forceinline__ void multiply(const T *x, const unsigned char *w, T *y, int m, int n,
                                                int k)
{
    const int units = L::NUMBERS / L::QUADS / 4;
    int column = (int)(blockIdx.x * (BLOCK / 32) + threadIdx.x / 32), lane = threadIdx.x % 32;
    int first = blockIdx.y * MOST, count = min(MOST, m - first);
    if (column >= n)
        return;
    w += (long long)column * (k / L::NUMBERS) * L::BYTES;
    x += (long long)first * k;
    float sum[MOST] = {};
#pragma unroll 1
    for (int i = lane; i < k / L::NUMBERS * units; i += 32) {
        float part[L::QUADS][4];
        int block = i / units, unit = i % units, col = block * L::NUMBERS + L::place(unit);
        L::decode(w + (long long)block * L::BYTES, unit, part);
#pragma unroll
        for (int r = 0; r < MOST; r++)
            if (r < count) {
#pragma unroll
                for (int quad = 0; quad < L::QUADS; quad++) {
                    float four[4];
                    load_quad(x + (long long)r * k + col + quad * L::STEP, four);
#pragma unroll
                    for (int j = 0; j < 4; j++)
                        sum[r] = fmaf(part[quad][j], four[j], sum[r]);
                }
            }
    }
#pragma unroll
    for (int r = 0; r < MOST; r++) {
        if (r >= count)
            break;
        float all = sum_lanes(sum[r], 32);
        if (lane == 0)
            narrow(all, &y[(long long)(first + r) * n + column]);
    }
}

#define ONE_KERNEL(name, L, T)                                                                     \
    extern "C" __global__ void __launch_bounds__(BLOCK)                                            \
        name(const T *x, const unsigned char *w, T *y, int m, int n, int k)                        \
    {                                                                                              \
        multiply<L>(x, w, y, m, n, k);                                                             \
    }
#define KERNELS(name, L)                                                                           \
    ONE_KERNEL(name##_bf16, L, bf16)                                                               \
    ONE_KERNEL(name##_f16, L, f16)
KERNELS(q4_0, Q4_0)
KERNELS(q4_1, Q4_1)
KERNELS(q8_0, Q8_0)
KERNELS(q4_k, Q4_K)
KERNELS(q6_k, Q6_K)
