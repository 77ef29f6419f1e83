/*
 * naive.cu: a thread for each number of y decodes a whole row of W by itself. Also the kernels that
 * bring weights into tiles, a thread for each word: done once, when a model is loaded.
 */
// arch: sm_80
#include "weights.h"

#define BLOCK 128 // tune: 64 128 256

template <class L, class T>
static __device__ __forceinline__ float dot_row(const unsigned char *w, const T *x, int k)
{
    float sum = 0;
    for (int block = 0; block < k / L::NUMBERS; block++)
        for (int unit = 0; unit < L::NUMBERS / L::QUADS / 4; unit++) {
            float part[L::QUADS][4];
            L::decode(w + (long long)block * L::BYTES, unit, part);
            for (int quad = 0; quad < L::QUADS; quad++)
                for (int i = 0; i < 4; i++)
                    sum = fmaf(part[quad][i],
                               widen(x[block * L::NUMBERS + L::place(unit) + quad * L::STEP + i]),
                               sum);
        }
    return sum;
}

template <class L, class T>
static __device__ __forceinline__ void multiply(const T *x, const unsigned char *w, T *y, int m, int n,
                                                int k)
{
    long long i = (long long)blockIdx.x * BLOCK + threadIdx.x, row = i / n;
    int column = (int)(i - row * n);
    if (row < m)
        narrow(dot_row<L>(w + (long long)column * (k / L::NUMBERS) * L::BYTES, x + row * k, k), &y[i]);
}

template <int GROUP, class T>
static __device__ __forceinline__ void multiply_tiles(const T *x, const unsigned *w,
                                                      const unsigned *scales, T *y, int m, int n,
                                                      int k)
{
    long long i = (long long)blockIdx.x * BLOCK + threadIdx.x, row = i / n;
    int column = (int)(i - row * n);
    if (row >= m)
        return;
    float sum = 0;
    for (int c = 0; c < k; c++)
        sum = fmaf(Tiles<GROUP>::at(w, scales, k, column, c), widen(x[row * k + c]), sum);
    narrow(sum, &y[i]);
}

#define GGUF_KERNEL(name, L, T)                                                                    \
    extern "C" __global__ void __launch_bounds__(BLOCK)                                            \
        name(const T *x, const unsigned char *w, T *y, int m, int n, int k)                        \
    {                                                                                              \
        multiply<L>(x, w, y, m, n, k);                                                             \
    }
#define GGUF_KERNELS(name, L)                                                                      \
    GGUF_KERNEL(name##_bf16, L, bf16)                                                              \
    GGUF_KERNEL(name##_f16, L, f16)
GGUF_KERNELS(q4_0, Q4_0)
GGUF_KERNELS(q4_1, Q4_1)
GGUF_KERNELS(q8_0, Q8_0)
GGUF_KERNELS(q4_k, Q4_K)
GGUF_KERNELS(q6_k, Q6_K)

#define TILES_KERNEL(name, GROUP, T)                                                               \
    extern "C" __global__ void __launch_bounds__(BLOCK)                                            \
        name(const T *x, const unsigned *w, const unsigned *scales, T *y, int m, int n, int k)     \
    {                                                                                              \
        multiply_tiles<GROUP>(x, w, scales, y, m, n, k);                                           \
    }
TILES_KERNEL(tiles32_bf16, 32, bf16)
TILES_KERNEL(tiles32_f16, 32, f16)
TILES_KERNEL(tiles128_bf16, 128, bf16)
TILES_KERNEL(tiles128_f16, 128, f16)

/* Into tiles. What lies behind the last row or column is 0: code 8. */
struct FromQ4_0 {
    const unsigned char *w;
    __device__ unsigned code(int k, int row, int col) const
    {
        const unsigned char *block = w + ((long long)row * (k / 32) + col / 32) * 18;
        return block[2 + col % 16] >> col / 16 % 2 * 4 & 15;
    }
    __device__ unsigned scale(int k, int row, int col) const
    {
        const unsigned char *block = w + ((long long)row * (k / 32) + col / 32) * 18;
        return block[0] | (unsigned)block[1] << 8;
    }
};
/* As lk_quantise makes them: two's complement, floats for 128 numbers. */
struct FromInt4 {
    const unsigned char *w;
    const float *scales;
    __device__ unsigned code(int k, int row, int col) const
    {
        return (w[(long long)row * (k / 2) + col / 2] >> col % 2 * 4 & 15) ^ 8;
    }
    __device__ unsigned scale(int k, int row, int col) const
    {
        f16 rounded;
        narrow(scales[(long long)row * (k / 128) + col / 128], &rounded);
        return rounded.bits;
    }
};

template <int GROUP, class From>
static __device__ __forceinline__ void repack(From from, unsigned *to, unsigned *scales, int n, int k)
{
    typedef Tiles<GROUP> Layout;
    long long i = (long long)blockIdx.x * BLOCK + threadIdx.x, chunk = i / 128;
    int row = (int)(chunk / Layout::chunks(k)) * 16 + (int)(i % 128) / 16;
    int col = (int)(chunk % Layout::chunks(k)) * 64 + (int)i % 4 * 16 + (int)i / 4 % 4 * 2;
    if (row >= (n + 15) / 16 * 16)
        return;
    unsigned word = 0;
    for (int pair = 0; pair < 4; pair++)
        for (int second = 0; second < 2; second++) {
            int r = row + pair % 2 * 8, c = col + pair / 2 * 8 + second;
            word |= (r < n && c < k ? from.code(k, r, c) : 8) << (4 * pair + 16 * second);
        }
    to[i] = word;
    // The first lane of a row stores its scales.
    if (i % 16 / 4 != 0 || col % (GROUP == 32 ? 32 : GROUP) != 0)
        return;
    unsigned low = row < n && col < k ? from.scale(k, row, col) : 0;
    unsigned high = row + 8 < n && col < k ? from.scale(k, row + 8, col) : 0;
    scales[Layout::scale_word(k, row, col)] = low | high << 16;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    repack_q4_0(const unsigned char *w, unsigned *to, unsigned *scales, int n, int k)
{
    repack<32>(FromQ4_0{w}, to, scales, n, k);
}
extern "C" __global__ void __launch_bounds__(BLOCK)
    repack_int4(const unsigned char *w, const float *from_scales, unsigned *to, unsigned *scales,
                int n, int k)
{
    repack<128>(FromInt4{w, from_scales}, to, scales, n, k);
}
