/*
 * prefetched.cu: blocks of 2048 to 16384 numbers of 16 bits: a block of threads asks for the tile that a
 * later one will read (prefetch.h), and seven bits of the place take two products on tensor cores. With the
 * tile in the L2 and no shuffles left, what a block still waits for is its exchange (tiles.h).
 *
 * The first product multiplies the Walsh-Hadamard matrix of 16 by 16 x 8 numbers: exact products of 16-bit
 * numbers. It turns the tile: what lay in other lanes along the rows then lies along the columns, where the
 * second product, in TF32, takes three more bits. TF32 keeps 11 of a sum's 24 bits: each sum goes as two
 * numbers, what it keeps and the rest.
 *
 * A warp's tile has 1024 numbers, as in tiles.h: place bits 0 to 2 within a vector, 3 to 7 the lane, 8
 * and 9 the vector. The first product takes bits 0, 1, 3 and 4, the second 5, 6 and 7. What is left is bit
 * 2, within a thread. Afterwards a thread has bits 0, 2 and 5; its lane / 4 are bits 1, 3 and 4, lane %
 * 4 bits 6 and 7. It stores bits 0 and 2 side by side: in shared memory bits 1 and 2 change places.
 */
// arch: sm_90
#include "prefetch.h"
#include "tiles.h"

#define AHEAD (132 * 1024)    // threads: as many as an H200 holds at a time
#define FEW_AHEAD (AHEAD / 2) // for blocks of 2048 and 4096 numbers

/* 1 in both halves of a word. */
static __device__ __forceinline__ unsigned ones_of(bf16)
{
    return 0x3f803f80;
}
static __device__ __forceinline__ unsigned ones_of(f16)
{
    return 0x3c003c00;
}
#define MULTIPLY(type)                                                                             \
    static __device__ __forceinline__ void multiply(type, float (&sums)[4], uint4 a, unsigned b0,  \
                                                    unsigned b1)                                   \
    {                                                                                              \
        asm("mma.sync.aligned.m16n8k16.row.col.f32." #type "." #type ".f32 {%0, %1, %2, %3}, "     \
            "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                                        \
            : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])                           \
            : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));                           \
    }
MULTIPLY(bf16)
MULTIPLY(f16)
/* a: 16 x 8 numbers, of which the tensor cores see the upper 19 bits. */
static __device__ __forceinline__ void multiply_tf32(float (&sums)[4], const float (&a)[4], uint2 b)
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])),
          "r"(__float_as_uint(a[3])), "r"(b.x), "r"(b.y));
}

/* A lane's parts of both matrices. An entry is -1 to the number of bits that its row and its column
 * share, where bits are told apart by the place bit they stand for. */
struct matrices {
    uint4 first;
    uint2 second;
};
static __device__ __forceinline__ unsigned is_odd(unsigned bits)
{
    return __popc(bits) & 1;
}
template <class T> static __device__ __forceinline__ matrices matrices_of(void)
{
    unsigned lane = threadIdx.x % 32, high = lane / 4, low = lane % 4, word[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        unsigned row = high + k % 2 * 8; // bits 1, 3, 4, 0 of the place
        unsigned column = low * 2 + k / 2; // of this and the next along k: bits 1, 3, 4
        word[k] = ones_of(T()) ^ is_odd(row & column) << 15 ^ is_odd(row & (column | 8)) << 31;
    }
    unsigned one = 0x3f800000, of_rows = low * 2; // bits 6 and 7 of the place, and 5 the lowest
    return matrices{make_uint4(word[0], word[1], word[2], word[3]),
                    make_uint2(one ^ is_odd(of_rows & high) << 31,
                               one ^ is_odd((of_rows | 1) & high) << 31)};
}

/* Bits 5 to 7: the columns of the first product's sums. */
static __device__ __forceinline__ void second_product(float (&sums)[4], uint2 matrix)
{
    const int order[4] = {0, 2, 1, 3}; // of the second product: bit 5 lies along k
    float kept[4], rest[4], out[4] = {};
#pragma unroll
    for (int k = 0; k < 4; k++) {
        kept[k] = __uint_as_float(__float_as_uint(sums[order[k]]) & 0xffffe000);
        rest[k] = sums[order[k]] - kept[k];
    }
    multiply_tf32(out, rest, matrix);
    multiply_tf32(out, kept, matrix);
#pragma unroll
    for (int k = 0; k < 4; k++)
        sums[k] = out[k];
}
/* The same by shuffles. */
static __device__ __forceinline__ void second_by_lanes(float (&sums)[4])
{
#pragma unroll
    for (int k = 0; k < 4; k += 2) {
        float low = sums[k], high = sums[k + 1];
        sums[k] = low + high;
        sums[k + 1] = low - high;
    }
#pragma unroll
    for (int distance = 1; distance < 4; distance *= 2) {
        float sign = threadIdx.x & distance ? -1.0f : 1.0f;
#pragma unroll
        for (int k = 0; k < 4; k++)
            sums[k] = fmaf(sign, sums[k], __shfl_xor_sync(0xffffffff, sums[k], distance));
    }
}

/* Bits 0 to 7 but for bit 2, of which v has both values. `trouble` becomes NaN where a sum is not finite. */
template <bool BY_LANES, class T>
static __device__ __forceinline__ void multiply_vector(uint4 x, const matrices &m, float *v,
                                                       float &trouble)
{
#pragma unroll
    for (int half = 0; half < 2; half++) { // bit 2
        float sums[4] = {};
        multiply(T(), sums, m.first, half ? x.z : x.x, half ? x.w : x.y);
        if (BY_LANES)
            second_by_lanes(sums);
        else
            second_product(sums, m.second);
        trouble = fmaf(sums[0], 0.0f, trouble); // every number of the tile is in some lane's
        v[2 * half] = sums[0], v[2 * half + 4] = sums[1]; // bits 0, 2, 5
        v[2 * half + 1] = sums[2], v[2 * half + 5] = sums[3];
    }
}

/* All bits of a warp's tile, into the block's tile in shared memory. What TF32 leaves of an infinity is not a
 * number: warps that meet one take shuffles. */
template <class T>
static __device__ __forceinline__ void warp_to_tile(const uint4 (&vectors)[VECTORS<T>],
                                                    const matrices &m, float *tile)
{
    int lane = threadIdx.x % 32, first = threadIdx.x / 32 * 32 * EACH + lane / 4 * 4 + lane % 4 * 64;
    float v[EACH], trouble = 0;
#pragma unroll
    for (int k = 0; k < VECTORS<T>; k++)
        multiply_vector<false, T>(vectors[k], m, v + 8 * k, trouble);
    if (__any_sync(0xffffffff, trouble != 0)) {
#pragma unroll
        for (int k = 0; k < VECTORS<T>; k++)
            multiply_vector<true, T>(vectors[k], m, v + 8 * k, trouble);
    }
    butterfly(v, 1);
    butterfly(v, 3);
    butterfly(v, 4);
#pragma unroll
    for (int k = 0; k < EACH; k += 4)
        *(float4 *)&tile[slot(first) + slot(k / 8 * 256 + k / 4 % 2 * 32)] =
            make_float4(v[k], v[k + 1], v[k + 2], v[k + 3]);
}

/* The tile of a block of threads that begins when this one is done, or half as many before that. Blocks of
 * numbers have at least 2048: what is left is a multiple of 16 bytes. */
template <class T>
static __device__ __forceinline__ void prefetch_tile(const T *x, long long tile, long long n, int log)
{
    long long later = tile + (log > 12 ? AHEAD : FEW_AHEAD) * EACH;
    if (threadIdx.x == 0 && later < n && (size_t)x % 16 == 0)
        bulk_prefetch(x + later, min(n - later, (long long)blockDim.x * EACH) * sizeof(T));
}

/* One tile for each block of threads. */
template <class T>
static __device__ __forceinline__ void prefetched(const T *x, T *y, long long n, int log, float scale)
{
    extern __shared__ float waiting[];
    const int line = 32 * PER<T>; // numbers of a warp's vectors side by side
    int first = threadIdx.x / 32 * 32 * EACH + threadIdx.x % 32 * PER<T>;
    long long tile = (long long)blockIdx.x * blockDim.x * EACH, from = tile + first;
    uint4 vectors[VECTORS<T>];
#pragma unroll
    for (int k = 0; k < VECTORS<T>; k++)
        vectors[k] = load_vector(x + from + k * line, n - from - k * line);
    prefetch_tile(x, tile, n, log);
    warp_to_tile<T>(vectors, matrices_of<T>(), waiting);
    __syncthreads();
    store_by_size<true>(log, waiting, y + tile, n - tile, scale);
}

KERNEL(prefetched, f16, f16)
KERNEL(prefetched, bf16, bf16)
