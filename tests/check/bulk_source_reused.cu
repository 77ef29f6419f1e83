// bulk_source_reused.cu: shared memory is written again while a bulk copy may still read it.
#include <cstdint>

#define AT(p) "r"((uint32_t)__cvta_generic_to_shared(p))

__global__ void store(int *out)
{
    __shared__ __align__(128) int tile[64];
    for (int i = 0; i < 2; i++) {
        tile[threadIdx.x] = i * 100 + threadIdx.x; // expect: race "wait_group.read"
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (threadIdx.x == 0) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" ::"l"(out + 64 * i), AT(tile) : "memory"); // expect: race
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#ifdef FIXED
            asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

int main()
{
    int *out;
    cudaMalloc(&out, 128 * sizeof(int));
    store<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
