// bulk_store_flag.cu: a bulk copy writes global memory, and a flag tells another block so; what was
// waited for is the copy's source alone.
// options: -arch=sm_90
#include <cstdint>

#define AT(p) "r"((uint32_t)__cvta_generic_to_shared(p))

__device__ void pass_on(int *flag, int value)
{
    __threadfence();
    asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}

__device__ void wait_for(const int *flag, int value)
{
    int is = 0;
    while (is != value)
        asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(is) : "l"(flag) : "memory");
}

__global__ void hand_over(int *data, int *flag, int *out)
{
    __shared__ __align__(128) int tile[64];
    if (blockIdx.x == 0) {
        tile[threadIdx.x] = threadIdx.x;
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (threadIdx.x == 0) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" ::"l"(data), AT(tile) : "memory"); // expect: race
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#ifdef FIXED
            asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
#else
            asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
        }
        __syncthreads();
        if (threadIdx.x == 32) // another warp: what the first one waited for comes with the barrier
            pass_on(flag, 1);
    } else if (blockIdx.x == 1) {
        if (threadIdx.x == 0) {
            wait_for(flag, 1);
            pass_on(flag, 2); // and it travels on
        }
    } else {
        if (threadIdx.x == 0)
            wait_for(flag, 2);
        __syncthreads();
        out[threadIdx.x] = data[63 - threadIdx.x]; // expect: race "wait_group"
    }
}

int main()
{
    int *memory;
    cudaMalloc(&memory, 129 * sizeof(int));
    cudaMemset(memory, 0, 129 * sizeof(int));
    hand_over<<<3, 64>>>(memory, memory + 128, memory + 64);
    cudaDeviceSynchronize();
    cudaFree(memory);
}
