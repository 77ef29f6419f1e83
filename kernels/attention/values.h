/*
 * values.h: V transposed, for fp8.cu. Tensor cores take 8-bit factors along k only: of weights
 * times V, k runs over the keys, and so the keys of a column must follow each other. One kernel
 * turns V before; it moves each byte once, where a tile of V would be turned again for every 128
 * queries.
 *
 * It also swaps keys, within each 16, into the order in which a thread has their scores in
 * registers: threads t of four have scores 2 t, 2 t + 1, 2 t + 8, 2 t + 9, and weights 4 t .. 4 t +
 * 3 are what the product wants of them. And it puts zeros behind each sequence, up to a whole tile.
 */
#ifndef LOCKSTEP_KERNELS_ATTENTION_VALUES_H
#define LOCKSTEP_KERNELS_ATTENTION_VALUES_H

#include "attention.h"
#define VALUE_KEYS 128 /* of a tile */
#define VALUE_THREADS 256

/* Where the keys of a sequence begin in a transposed row: tiles of one sequence only. */
static __device__ __forceinline__ int first_column(const attention_arguments &g, int k_first,
                                                   int number)
{
    int tile = g.q_begin ? k_first / VALUE_KEYS + number
                         : number * ((g.keys + VALUE_KEYS - 1) / VALUE_KEYS);
    return tile * VALUE_KEYS;
}

/* The sequence whose tile this is, by halving. */
static __device__ __forceinline__ int number_at(const attention_arguments &g, int column)
{
    if (!g.q_begin)
        return column / first_column(g, 0, 1);
    int low = 0, high = g.batch;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        bool is_later = first_column(g, ((const int *)g.k_begin)[middle], middle) > column;
        low = is_later ? low : middle;
        high = is_later ? middle : high;
    }
    return low;
}

/* Four words of four bytes become columns: word i has byte i of each. */
static __device__ __forceinline__ void turn_bytes(unsigned (&x)[4])
{
    unsigned low0 = __byte_perm(x[0], x[1], 0x5140), high0 = __byte_perm(x[0], x[1], 0x7362);
    unsigned low1 = __byte_perm(x[2], x[3], 0x5140), high1 = __byte_perm(x[2], x[3], 0x7362);
    x[0] = __byte_perm(low0, low1, 0x5410);
    x[1] = __byte_perm(low0, low1, 0x7632);
    x[2] = __byte_perm(high0, high1, 0x5410);
    x[3] = __byte_perm(high0, high1, 0x7632);
}

/* 128 keys of a head. Word c of a key lies at c ^ (the lane that wants it), so that a warp's loads
 * meet all banks. */
template <int DIM>
static __device__ __forceinline__ void transpose_values(const attention_arguments &g)
{
    __shared__ unsigned tile[VALUE_KEYS][32];
    int column = blockIdx.x * VALUE_KEYS, head = blockIdx.y;
    sequence s = sequence_of(g, number_at(g, column) * g.heads * g.group);
    int first = column - first_column(g, s.k_first, s.number), inside = s.visible - first;
    if (inside <= 0) /* nobody reads these columns */
        return;
    const unsigned char *from = (const unsigned char *)g.v + s.batch * g.v_batch + head * g.v_head +
                                (long long)(s.k_first + first) * g.v_row;
    for (int i = threadIdx.x; i < VALUE_KEYS * DIM / 16; i += VALUE_THREADS) {
        int key = i / (DIM / 16), word = i % (DIM / 16) * 4, lane = key / 16 * 4 + key % 8 / 2;
        uint4 x = make_uint4(0, 0, 0, 0);
        if (key < inside)
            x = *(const uint4 *)(from + key * g.v_row + word * 4);
        tile[key][word ^ lane] = x.x;
        tile[key][(word + 1) ^ lane] = x.y;
        tile[key][(word + 2) ^ lane] = x.z;
        tile[key][(word + 3) ^ lane] = x.w;
    }
    __syncthreads();
    int lane = threadIdx.x % 32, key = lane / 4 * 16 + lane % 4 * 2;
    for (int word = threadIdx.x / 32; word < DIM / 4; word += VALUE_THREADS / 32) {
        unsigned x[4] = {tile[key][word ^ lane], tile[key + 1][word ^ lane],
                         tile[key + 8][word ^ lane], tile[key + 9][word ^ lane]};
        unsigned char *to = (unsigned char *)g.values + column + lane * 4 +
                            ((long long)head * DIM + word * 4) * g.v_columns;
        turn_bytes(x);
#pragma unroll
        for (int i = 0; i < 4; i++)
            *(unsigned *)(to + (long long)i * g.v_columns) = x[i];
    }
}

#endif
