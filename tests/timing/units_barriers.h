/*
 * units_barriers.h: for units.cu: kernels that time barriers of a block and of a cluster, and the
 * way to another block's shared memory. now() is units.cu's clock.
 */
#ifndef LOCKSTEP_TESTS_TIMING_UNITS_BARRIERS_H
#define LOCKSTEP_TESTS_TIMING_UNITS_BARRIERS_H

__global__ void block_barrier(long long *out, int turns)
{
    __syncthreads();
    long long begin = now();
    for (int i = 0; i < turns; i++)
        __syncthreads();
    if (threadIdx.x == 0)
        out[0] = now() - begin;
}

/* Two warps hand a turn to and fro. */
__global__ void ping_pong(long long *out, int turns)
{
    __shared__ barrier b[2];
    int warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        barrier_make(&b[0], 1);
        barrier_make(&b[1], 1);
        barrier_made();
    }
    __syncthreads();
    long long begin = now();
    if (threadIdx.x % 32 == 0)
        for (int i = 0; i < turns; i++) {
            if (warp == 0) {
                barrier_arrive(&b[0]);
                barrier_wait(&b[1], i % 2);
            } else {
                barrier_wait(&b[0], i % 2);
                barrier_arrive(&b[1]);
            }
        }
    __syncthreads();
    if (threadIdx.x == 0)
        out[0] = now() - begin;
}

__global__ void __cluster_dims__(2, 1, 1) cluster_ping_pong(long long *out, int turns)
{
    __shared__ barrier mine;
    unsigned rank = cluster_rank();
    if (threadIdx.x == 0) {
        barrier_make(&mine, 1);
        barrier_made();
    }
    cluster_sync();
    long long begin = now();
    if (threadIdx.x == 0)
        for (int i = 0; i < turns; i++) {
            if (rank == 0)
                barrier_arrive_in(&mine, 1);
            barrier_wait(&mine, i % 2);
            if (rank == 1)
                barrier_arrive_in(&mine, 0);
        }
    cluster_sync();
    if (threadIdx.x == 0 && rank == 0)
        out[0] = now() - begin;
}

__global__ void __cluster_dims__(2, 1, 1) cluster_barrier(long long *out, int turns)
{
    cluster_sync();
    long long begin = now();
    for (int i = 0; i < turns; i++)
        cluster_sync();
    if (threadIdx.x == 0 && cluster_rank() == 0)
        out[0] = now() - begin;
}

static __device__ __forceinline__ unsigned there(const void *at, unsigned rank)
{
    unsigned address;
    asm("mapa.shared::cluster.u32 %0, %1, %2;"
        : "=r"(address)
        : "r"(shared_address(at)), "r"(rank));
    return address;
}

/* A chain of loads in the other block's memory, then as many independent ones. */
__global__ void __cluster_dims__(2, 1, 1) remote_loads(long long *out, int turns)
{
    __shared__ unsigned chain[4096];
    for (int i = threadIdx.x; i < 4096; i += blockDim.x)
        chain[i] = (i + 32) % 4096;
    cluster_sync();
    unsigned base = there(chain, cluster_rank() ^ 1), at = threadIdx.x % 32, sum = 0;
    long long begin = now();
    for (int i = 0; i < turns; i++)
        asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(at) : "r"(base + at * 4));
    long long middle = now();
    sum = at;
    for (int i = 0; i < turns; i += 8) {
        unsigned v[8];
#pragma unroll
        for (int k = 0; k < 8; k++)
            asm volatile("ld.shared::cluster.u32 %0, [%1];"
                         : "=r"(v[k])
                         : "r"(base + ((i + k) * 32 + threadIdx.x) % 4096 * 4));
#pragma unroll
        for (int k = 0; k < 8; k++)
            sum += v[k];
    }
    cluster_sync();
    long long end = now();
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        out[0] = middle - begin;
        out[1] = end - middle;
    }
    if (sum == 0x12345678)
        out[2] = 1;
}

/* Accesses to the other block's memory by all warps, of lanes side by side or anywhere. */
enum { REMOTE_LOAD, REMOTE_STORE, REMOTE_ADD };
template <int WHAT>
__global__ void __cluster_dims__(2, 1, 1) remote_words(long long *out, int turns, int scattered)
{
    __shared__ unsigned words[2048];
    for (int i = threadIdx.x; i < 2048; i += blockDim.x)
        words[i] = 0;
    cluster_sync();
    unsigned base = there(words, cluster_rank() ^ 1), at = threadIdx.x * 2654435761u, sum = 0;
    long long begin = now();
    for (int i = 0; i < turns; i++) {
        at = at * 1664525u + 1013904223u;
        unsigned v, to = base + (scattered ? at >> 21 : (i * 1024 + threadIdx.x) % 2048) * 4;
        if (WHAT == REMOTE_LOAD) {
            asm volatile("ld.relaxed.cluster.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(to));
            sum += v;
        } else if (WHAT == REMOTE_STORE) {
            asm volatile("st.relaxed.cluster.shared::cluster.u32 [%0], %1;" ::"r"(to), "r"(at));
        } else {
            asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], 1;" ::"r"(to));
        }
    }
    cluster_sync();
    if (threadIdx.x == 0 && blockIdx.x == 0)
        out[0] = now() - begin;
    if (sum == 0x12345678)
        out[2] = 1;
    cluster_sync();
}

#endif
