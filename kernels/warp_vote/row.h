/*
 * row.h: how a warp goes over rows of 32, a lane an element.
 */
#ifndef LOCKSTEP_WARP_VOTE_ROW_H
#define LOCKSTEP_WARP_VOTE_ROW_H

/* A warp's first row, and how far it is to its next one. */
static __device__ long long first_row(void)
{
    return ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32;
}
static __device__ long long row_step(void)
{
    return (long long)gridDim.x * blockDim.x / 32;
}

/* Elements that stay go to the front, the zeros after them: every place is written once. */
static __device__ void store_compacted(int *out, long long row, int value, unsigned before,
                                       unsigned count)
{
    unsigned lane = threadIdx.x % 32, place = value ? before : count + lane - before;
    out[row * 32 + place] = value;
}

#endif
