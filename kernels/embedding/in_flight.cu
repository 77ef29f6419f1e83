/*
 * in_flight.cu: `lanes` threads, a power of two, take a row, UNROLL vectors of 16 bytes each at a time,
 * and load all of them before they store the first. No division, and the number of a row is read once
 * for all its vectors.
 */
// arch: sm_80
#include "rows_of.h"

#define BLOCK 128 // tune: 128 256 512
#define UNROLL 2 // tune: 1 2 4 8

template <class T, class I>
static __device__ __forceinline__ void copy_rows(const I *ids, const T *table, T *out,
                                                 long long tokens, long long vocab, long long dim,
                                                 int lanes)
{
    long long token = (long long)blockIdx.x * (BLOCK / lanes) + threadIdx.x / lanes;
    int lane = threadIdx.x % lanes;
    if (token >= tokens)
        return;
    I id = ids[token];
    bool known = is_known(id, vocab), whole = in_vectors(table, out, dim);
    const T *row = table + (known ? (long long)id * dim : 0);
    T *to = out + token * dim;
    const int step = lanes * PER<T>;
#pragma unroll 1
    for (long long from = 0; from < dim; from += (long long)step * UNROLL) {
        if (known && whole && from + (long long)step * UNROLL <= dim) {
            uint4 v[UNROLL];
#pragma unroll
            for (int k = 0; k < UNROLL; k++)
                v[k] = load_once((const uint4 *)(row + from + k * step + lane * PER<T>));
#pragma unroll
            for (int k = 0; k < UNROLL; k++)
                store_stream((uint4 *)(to + from + k * step + lane * PER<T>), v[k]);
            continue;
        }
#pragma unroll 1
        for (int k = 0; k < UNROLL; k++) {
            columns c = columns_of<T>(from + k * step, lane, lanes, dim, whole);
            float x[PER<T>] = {};
            if (known)
                load_columns(row, c, x);
            store_columns(to, c, x);
        }
    }
}

#define MAKE(suffix, T, I)                                                                         \
    extern "C" __global__ void __launch_bounds__(BLOCK)                                            \
        forward_##suffix(const I *ids, const T *table, T *out, long long tokens, long long vocab,  \
                         long long dim, int lanes)                                                 \
    {                                                                                              \
        copy_rows<T, I>(ids, table, out, tokens, vocab, dim, lanes);                               \
    }
FOR_TYPES(MAKE)
