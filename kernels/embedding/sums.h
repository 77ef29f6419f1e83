/*
 * sums.h: sums of rows of dout for rows of the table, once it is known which: a list of tokens in their
 * order, or, for most rows of a large table, one token, two or none.
 */
#ifndef LOCKSTEP_EMBEDDING_SUMS_H
#define LOCKSTEP_EMBEDDING_SUMS_H

#include "rows_of.h"

#define IN_FLIGHT 4
#define ROWS 4 // of the table at a time; embedding.c has the same

/* Of the rows in a list, in its order; of whole vectors IN_FLIGHT loads are under way at a time. */
template <class T>
static __device__ __forceinline__ void add_rows(const T *dout, const int *list, int count,
                                                columns c, float (&sum)[PER<T>])
{
    float x[PER<T>];
    int i = 0;
#pragma unroll 1
    for (; c.whole && c.first < c.dim && i + IN_FLIGHT <= count; i += IN_FLIGHT) {
        uint4 v[IN_FLIGHT];
#pragma unroll
        for (int k = 0; k < IN_FLIGHT; k++)
            v[k] = load_once((const uint4 *)(dout + list[i + k] * c.dim + c.first));
#pragma unroll
        for (int k = 0; k < IN_FLIGHT; k++) {
            widen_all<T>(v[k], x);
#pragma unroll
            for (int e = 0; e < PER<T>; e++)
                sum[e] += x[e];
        }
    }
#pragma unroll 1
    for (; i < count; i++) {
        load_columns(dout + list[i] * c.dim, c, x);
#pragma unroll
        for (int e = 0; e < PER<T>; e++)
            sum[e] += x[e];
    }
}

/* Rows with one or two tokens, or none: most of them. Counts, places and tokens of all ROWS come first, each
 * kind at once, and then all their loads: a block that takes one row after the other mostly waits. */
struct few {
    int count[ROWS], begin[ROWS], one[ROWS], other[ROWS];
};
template <class T>
static __device__ __forceinline__ void write_few(const T *dout, T *dtable, const few &f,
                                                 long long row, long long vocab, columns c)
{
    uint4 one[ROWS], other[ROWS];
    const uint4 none = make_uint4(0, 0, 0, 0);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        bool has = f.count[r] == 1 || f.count[r] == 2, two = f.count[r] == 2;
        one[r] = has ? load_once((const uint4 *)(dout + f.one[r] * c.dim + c.first)) : none;
        other[r] = two ? load_once((const uint4 *)(dout + f.other[r] * c.dim + c.first)) : none;
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        float x[PER<T>], y[PER<T>];
        if (row + r >= vocab || f.count[r] > 2)
            continue;
        widen_all<T>(one[r], x);
        widen_all<T>(other[r], y);
#pragma unroll
        for (int k = 0; k < PER<T>; k++)
            x[k] = f.count[r] == 2 ? x[k] + y[k] : x[k]; // -0 stays
        store_stream((uint4 *)(dtable + (row + r) * c.dim + c.first), narrow_all<T>(x));
    }
}

#endif
