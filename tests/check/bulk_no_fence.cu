// bulk_no_fence.cu: threads write shared memory and a bulk copy stores it, with a barrier between but
// no fence.proxy.async.
#include <cstdint>

#define AT(p) "r"((uint32_t)__cvta_generic_to_shared(p))

__global__ void store(int *out)
{
    __shared__ __align__(128) int tile[64];
    tile[threadIdx.x] = 3 * threadIdx.x; // expect: race
#ifdef FIXED
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" ::"l"(out), AT(tile) : "memory"); // expect: race "fence.proxy.async"
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

int main()
{
    int *out;
    cudaMalloc(&out, 64 * sizeof(int));
    store<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
