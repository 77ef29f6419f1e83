/*
 * shared_private.cu: degrees of a graph with so few vertices that a block can count them all in
 * shared memory; each block adds its counts to the result at the end. Edges come in by 16-byte
 * loads. Memory sees blocks * vertices atomics in place of two for each edge.
 */
// arch: sm_75
#include "device.h" // load_stream: a load that bypasses the L1
#define BLOCK 512 // tune: 256 512 1024
#define UNROLL 2 // tune: 1 2 4
#define BLOCKS_PER_SM 4 // tune: 1 2 4

// One end of all edges, each thread its share. What lies before the first 16-byte boundary, and
// what is left at the end, is counted word by word.
__device__ __forceinline__ void count_ends(const int *ends, long long edges, unsigned *count)
{
    long long me = (long long)blockIdx.x * BLOCK + threadIdx.x;
    long long all_threads = (long long)gridDim.x * BLOCK;
    long long head = min(edges, (long long)((16 - (size_t)ends % 16) % 16 / 4));
    long long vectors = (edges - head) / 4, tail = head + 4 * vectors;
    const uint4 *body = (const uint4 *)(ends + head);
    if (me < head)
        atomicAdd(count + ends[me], 1);
    if (me < edges - tail)
        atomicAdd(count + ends[tail + me], 1);
    for (long long i = me; i < vectors; i += UNROLL * all_threads) {
        uint4 v[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            if (i + k * all_threads < vectors)
                v[k] = load_stream(body + i + k * all_threads);
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            if (i + k * all_threads < vectors) {
                atomicAdd(count + v[k].x, 1);
                atomicAdd(count + v[k].y, 1);
                atomicAdd(count + v[k].z, 1);
                atomicAdd(count + v[k].w, 1);
            }
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    count_degrees(const int *from, const int *to, long long edges, long long vertices,
                  unsigned *degree)
{
    extern __shared__ unsigned count[]; // [vertices]
    for (long long v = threadIdx.x; v < vertices; v += BLOCK)
        count[v] = 0;
    __syncthreads();
    count_ends(from, edges, count);
    count_ends(to, edges, count);
    __syncthreads();
    for (long long v = threadIdx.x; v < vertices; v += BLOCK)
        if (count[v] > 0)
            atomicAdd(degree + v, count[v]);
}
