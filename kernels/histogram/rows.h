/*
 * rows.h: the end of replicated.cu and bytes.cu. Each block leaves its counts in a row of the
 * workspace, and a second kernel adds the rows: no atomics, and nothing to clear beforehand.
 */
#ifndef LOCKSTEP_HISTOGRAM_ROWS_H
#define LOCKSTEP_HISTOGRAM_ROWS_H

// row[bin] becomes the sum of the bin's copies, counters[bin][copies]; copies is a power of two.
// The lanes start at copies that lie in different banks.
static __device__ __forceinline__ void sum_copies(const unsigned *counters, unsigned copies,
                                                  unsigned bins, unsigned *row)
{
    unsigned turn = threadIdx.x % 32 * copies / 32;
    for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x) {
        unsigned sum = 0;
        for (unsigned k = 0; k < copies; k++)
            sum += counters[bin * copies + ((k + turn) & (copies - 1))];
        row[bin] = sum;
    }
}

// counts[bin] = the sum of rows[0 .. count)[bin]. By blocks of 1024 threads: 32 bins, and a warp
// for every 32nd row.
extern "C" __global__ void merge(const unsigned *rows, unsigned count, unsigned bins,
                                 unsigned *counts)
{
    __shared__ unsigned part[32][32];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned bin = blockIdx.x * 32 + lane, sum = 0;
    if (bin < bins)
#pragma unroll 4
        for (unsigned row = warp; row < count; row += 32)
            sum += rows[(size_t)row * bins + bin];
    part[warp][lane] = sum;
    __syncthreads();
    if (warp > 0 || bin >= bins)
        return;
    for (int k = 1; k < 32; k++)
        sum += part[k][lane];
    counts[bin] = sum;
}

#endif
