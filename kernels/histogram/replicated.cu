/*
 * replicated.cu: as many copies of the counters as fit, interleaved: the copies of one bin lie side
 * by side, and a lane takes the one with its number. With 32 copies every lane has a bank of its
 * own, so no data makes lanes wait for each other. 16-byte loads, UNROLL of them in flight. Bins
 * are counted in ranges, as in shared_private.cu.
 */
// arch: sm_75
#include "device.h" // load_stream: a load that bypasses the L1
#include "rows.h" // sum_copies, and the second kernel, which adds up what the blocks leave
#define BLOCK 1024 // tune: 256 512 1024
#define UNROLL 4 // tune: 1 2 4 8
#define SHARED_KB 32 // tune: 8 16 32 64

// Where a lane counts: bin b at mine + (b << shift), for the bins of this block's range; a bin's
// copies take 1 << shift bytes.
struct place {
    char *mine;
    unsigned shift;
    float bins, low, high; // all bins, and the range of this block
    unsigned none;         // the bin of what does not count
};

// What does not count goes to one bin more than there are: cheaper than a branch. The product is
// rounded to float before it is cut; it lies in [0, bins) exactly if x lies in [0, 1).
__device__ __forceinline__ void count_one(float x, const place &p)
{
    float product = x * p.bins;
    unsigned bin = product >= p.low && product < p.high ? (unsigned)product : p.none;
    atomicAdd((unsigned *)(p.mine + (bin << p.shift)), 1);
}

__device__ __forceinline__ void count_four(float4 v, const place &p)
{
    count_one(v.x, p);
    count_one(v.y, p);
    count_one(v.z, p);
    count_one(v.w, p);
}

__device__ __forceinline__ void count_all(const float *in, long long n, const place &p)
{
    // Up to the first 16-byte boundary, then vectors, then what is left.
    long long head = min(n, (long long)((16 - (size_t)in % 16) % 16 / 4));
    long long vectors = (n - head) / 4, tail = head + vectors * 4;
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned all_threads = gridDim.x * blockDim.x;
    const float4 *body = (const float4 *)(in + head);
    if (i < head)
        count_one(in[i], p);
    if (i < n - tail)
        count_one(in[tail + i], p);
    for (; i + (UNROLL - 1) * all_threads < vectors; i += UNROLL * all_threads) {
        float4 v[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            v[k] = load_stream(body + i + k * all_threads);
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            count_four(v[k], p);
    }
    for (; i < vectors; i += all_threads)
        count_four(load_stream(body + i), p);
}

// Row blockIdx.x of rows[gridDim.x][bins]; copies is a power of two.
extern "C" __global__ void __launch_bounds__(1024)
    count(const float *in, long long n, unsigned bins, unsigned range, unsigned copies,
          unsigned *rows)
{
    extern __shared__ unsigned counters[]; // [range + 1][copies], of which here + 1 are used
    unsigned first = blockIdx.y * range, here = min(range, bins - first);
    // As many as any block has, so that nothing need be known of this one to begin.
    for (unsigned i = threadIdx.x; i < (range + 1) * copies; i += blockDim.x)
        counters[i] = 0;
    __syncthreads();
    unsigned shift = __ffs(copies) + 1; // of 4 * copies bytes
    place p = {(char *)(counters + (threadIdx.x & (copies - 1))) - (first << shift),
               shift,
               (float)bins,
               (float)first,
               (float)(first + here),
               first + here};
    count_all(in, n, p);
    __syncthreads();
    sum_copies(counters, copies, here, rows + (size_t)blockIdx.x * bins + first);
}
