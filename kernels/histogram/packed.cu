/*
 * packed.cu: 16-bit counters, two in a word, for bins that otherwise are too many for shared
 * memory: 65536 of them take 128 KiB. The atomic returns the old value; the thread that brings a
 * counter to 2^15 moves that much to the result in memory. Between two barriers a block counts
 * fewer than 2^15 elements, so no counter overflows before that has happened. The next loads are
 * under way while a round is counted. Bins are counted in ranges, as in shared_private.cu.
 */
// arch: sm_75
#include "device.h" // load_stream: a load that bypasses the L1
#define BLOCK 1024 // tune: 512 1024
#define UNROLL 4 // tune: 2 4
#define FULL 0x8000u
#define ROUND (BLOCK * UNROLL)
#define NOT_A_NUMBER __uint_as_float(0x7fffffffu)

// Where a block counts: bin b in half of word counters[b / 2], for the bins of its range; what does
// not count goes to bin `none`, one more than there are. A range begins at an even bin.
struct place {
    unsigned *counters, none;
    float bins, low, high; // all bins, and the range of this block
    unsigned *counts;      // the result
};

__device__ __forceinline__ unsigned bin_of(float x, const place &p)
{
    float product = x * p.bins;
    return product >= p.low && product < p.high ? (unsigned)product : p.none;
}

// An even bin's counter is the lower half of its word.
__device__ __forceinline__ unsigned shift_of(unsigned bin)
{
    return bin % 2 * 16;
}

// Four atomics under way before the first old value is looked at.
__device__ __forceinline__ void count_four(float4 v, const place &p)
{
    const unsigned bin[4] = {bin_of(v.x, p), bin_of(v.y, p), bin_of(v.z, p), bin_of(v.w, p)};
    unsigned old[4];
#pragma unroll
    for (int k = 0; k < 4; k++)
        old[k] = atomicAdd(&p.counters[bin[k] / 2], 1u << shift_of(bin[k]));
#pragma unroll
    for (int k = 0; k < 4; k++)
        if ((old[k] >> shift_of(bin[k]) & 0xffff) == FULL - 1) {
            atomicSub(&p.counters[bin[k] / 2], FULL << shift_of(bin[k]));
            if (bin[k] != p.none)
                atomicAdd(&p.counts[bin[k]], FULL);
        }
}

// A round is UNROLL vectors of each thread of the block; past the end they are NaN.
__device__ __forceinline__ void load_round(const float4 *body, unsigned round, long long vectors,
                                           float4 *v)
{
    const long long i = (long long)round * ROUND + threadIdx.x;
    const float nan = NOT_A_NUMBER;
    if (round < (unsigned)(vectors / ROUND)) {
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            v[k] = load_stream(body + i + k * BLOCK);
    } else {
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            v[k] = i + k * BLOCK < vectors ? load_stream(body + i + k * BLOCK)
                                           : make_float4(nan, nan, nan, nan);
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    count(const float *in, long long n, unsigned bins, unsigned range, unsigned *counts)
{
    extern __shared__ unsigned counters[]; // [here / 2 + 1]
    unsigned first = blockIdx.y * range, here = min(range, bins - first);
    for (unsigned i = threadIdx.x; i < here / 2 + 1; i += blockDim.x)
        counters[i] = 0;
    __syncthreads();
    place p = {counters - first / 2, first + here, (float)bins, (float)first,
               (float)(first + here), counts};

    // Up to the first 16-byte boundary, and what is left at the end.
    long long head = min(n, (long long)((16 - (size_t)in % 16) % 16 / 4));
    long long vectors = (n - head) / 4, tail = head + vectors * 4;
    long long me = (long long)blockIdx.x * BLOCK + threadIdx.x;
    const float nan = NOT_A_NUMBER;
    if (me < 4)
        count_four(make_float4(me < head ? in[me] : nan, me < n - tail ? in[tail + me] : nan, nan,
                               nan),
                   p);
    __syncthreads();

    const float4 *body = (const float4 *)(in + head);
    const unsigned rounds = (unsigned)((vectors + ROUND - 1) / ROUND);
    float4 now[UNROLL], next[UNROLL];
    load_round(body, blockIdx.x, vectors, now);
    for (unsigned round = blockIdx.x; round < rounds; round += gridDim.x) {
        load_round(body, round + gridDim.x, vectors, next);
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            count_four(now[k], p);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            now[k] = next[k];
    }
    for (unsigned i = threadIdx.x; i < here; i += blockDim.x) {
        unsigned count = counters[i / 2] >> shift_of(i) & 0xffff;
        if (count > 0)
            atomicAdd(&counts[first + i], count);
    }
}
