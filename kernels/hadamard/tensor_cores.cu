/*
 * tensor_cores.cu: four bits of the place in one matrix product: 16 x 16 numbers times the
 * Walsh-Hadamard matrix of 16, whose entries are 1 and -1: products are exact, and sums are f32. A
 * product leaves each number where it was. Bits 0, 1, 3 and 4 are its bits; the others are done as in
 * registers.cu (tiles.h). For 16-bit types and blocks of 32 numbers on: smaller ones would share a
 * product, and an infinity would reach its neighbours.
 */
// arch: sm_80
#include "tiles.h"

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
    static __device__ __forceinline__ void multiply(type, float (&sums)[4], const unsigned (&a)[4], \
                                                    uint2 b)                                       \
    {                                                                                              \
        asm("mma.sync.aligned.m16n8k16.row.col.f32." #type "." #type ".f32 {%0, %1, %2, %3}, "     \
            "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                                        \
            : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])                           \
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b.x), "r"(b.y));                     \
    }
MULTIPLY(bf16)
MULTIPLY(f16)

/* A lane's part of eight columns of the matrix, from `column` on. Rows 2 (lane % 4) and the next, and
 * those 8 further on. An entry is -1 to the number of bits that row and column share. */
template <class T>
static __device__ __forceinline__ uint2 part_of_matrix(int column)
{
    unsigned lane = threadIdx.x % 32, n = column + lane / 4, word[2];
#pragma unroll
    for (int k = 0; k < 2; k++) {
        unsigned row = lane % 4 * 2 + 8 * k;
        word[k] = ones_of(T()) ^ (unsigned)(__popc(row & n) & 1) << 15 ^
                  (unsigned)(__popc((row + 1) & n) & 1) << 31;
    }
    return make_uint2(word[0], word[1]);
}

/* Bits 0, 1, 3 and 4 of a vector, of the same one in all lanes: along k lie the pair, lane % 4 and the
 * lower bit of the word; the upper one is eight rows further on. */
template <class T>
static __device__ __forceinline__ void multiply_vector(uint4 x, const uint2 (&matrix)[2], float *v)
{
    unsigned a[4] = {x.x, x.z, x.y, x.w};
#pragma unroll
    for (int half = 0; half < 2; half++) {
        float sums[4] = {};
        multiply(T(), sums, a, matrix[half]);
        v[2 * half] = sums[0], v[2 * half + 1] = sums[1];
        v[2 * half + 4] = sums[2], v[2 * half + 5] = sums[3];
    }
}

template <class T>
static __device__ __forceinline__ void tensor_cores(const T *x, T *y, long long n, int log,
                                                    float scale)
{
    uint2 matrix[2] = {part_of_matrix<T>(0), part_of_matrix<T>(8)};
    transform(x, y, n, log, scale, [&](const uint4(&vectors)[VECTORS<T>], float(&v)[EACH]) {
#pragma unroll
        for (int k = 0; k < VECTORS<T>; k++)
            multiply_vector<T>(vectors[k], matrix, v + 8 * k);
        butterfly(v, 2);
        between_lanes<T>(v, 5, log);
    });
}

KERNEL(tensor_cores, f16, f16)
KERNEL(tensor_cores, bf16, bf16)
