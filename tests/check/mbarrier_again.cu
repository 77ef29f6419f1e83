// mbarrier_again.cu: an mbarrier is initialised a second time, and at last invalidated, while other
// warps still wait for the phase that has just ended. A GPU wakes them, so nothing hangs.
// options: -arch=sm_90
#include <cstdint>

__device__ uint32_t address(uint64_t *barrier)
{
    return (uint32_t)__cvta_generic_to_shared(barrier);
}

#define init(barrier)                                                                              \
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address(barrier)), "r"(blockDim.x))
#define end(barrier) asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(address(barrier)))

__device__ void arrive_and_wait(uint64_t *barrier)
{
    asm volatile("{.reg .b64 state; .reg .pred done;\n"
                 "mbarrier.arrive.shared::cta.b64 state, [%0];\n"
                 "AGAIN: mbarrier.try_wait.shared::cta.b64 done, [%0], state;\n"
                 "@!done bra AGAIN;}" ::"r"(address(barrier))
                 : "memory");
}

__global__ void meet(int *out)
{
    __shared__ uint64_t barrier;
    for (int round = 0; round < 2; round++) {
        if (threadIdx.x == 0)
            init(&barrier); // expect: race
        __syncthreads();
        arrive_and_wait(&barrier);
#ifdef FIXED
        __syncthreads();
#endif
    }
    if (threadIdx.x == 0)
        end(&barrier); // expect: race
    out[threadIdx.x] = 1;
}

int main()
{
    int *out;
    cudaMalloc(&out, 256 * sizeof(int));
    meet<<<1, 256>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
