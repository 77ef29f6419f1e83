// bulk_written_early.cu: what a bulk copy writes to global memory is read back after a wait for its
// source alone.
// options: -arch=sm_90
#include <cstdint>

#define STORE(to, from)                                                                            \
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" ::"l"(to),         \
                 "r"((uint32_t)__cvta_generic_to_shared(from))                                     \
                 : "memory")
#define THEN(text) asm volatile(text ::: "memory")

__global__ void store(int *out, int *sum)
{
    __shared__ __align__(128) int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    THEN("fence.proxy.async.shared::cta;");
    __syncthreads();
    if (threadIdx.x == 0) {
        STORE(out, tile); // expect: race
        THEN("cp.async.bulk.commit_group;");
#ifdef FIXED
        THEN("cp.async.bulk.wait_group 0;");
#else
        THEN("cp.async.bulk.wait_group.read 0;");
#endif
    }
    __syncthreads();
    sum[threadIdx.x] = out[63 - threadIdx.x]; // expect: race "with .read it waits for the source"
}

int main()
{
    int *out, *sum;
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMalloc(&sum, 64 * sizeof(int));
    store<<<1, 64>>>(out, sum);
    cudaDeviceSynchronize();
    cudaFree(out);
    cudaFree(sum);
}
