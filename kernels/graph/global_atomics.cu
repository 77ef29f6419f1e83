/*
 * global_atomics.cu: degrees: a thread for each edge adds one to both of its vertices, in memory.
 * The L2 does the additions, one after the other where they meet at one vertex.
 */
// arch: sm_75
#define BLOCK 256 // tune: 128 256 512

extern "C" __global__ void __launch_bounds__(BLOCK)
    count_degrees(const int *from, const int *to, long long edges, unsigned *degree)
{
    long long edge = (long long)blockIdx.x * BLOCK + threadIdx.x;
    if (edge >= edges)
        return;
    atomicAdd(degree + from[edge], 1);
    atomicAdd(degree + to[edge], 1);
}
