// inlined_calls.cu: one helper function is called rightly once and wrongly twice; each wrong call
// is an error of its own, with its line.
#include <cstdint>

#define AT(p) "r"((uint32_t)__cvta_generic_to_shared(p))

__device__ __forceinline__ void put(int *to, const int *tile)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" ::"l"(to), AT(tile) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

__device__ __forceinline__ void fence()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__global__ void three(int *out)
{
    __shared__ __align__(128) int a[64], b[64], c[64];
    a[threadIdx.x] = threadIdx.x;
    fence();
    b[threadIdx.x] = threadIdx.x; // expect: race
    c[threadIdx.x] = threadIdx.x; // expect: race
#ifdef FIXED
    fence();
#endif
    __syncthreads();
    if (threadIdx.x == 0) {
        put(out, a);
        put(out + 64, b); // expect: race "missing fence"
        put(out + 128, c); // expect: race "missing fence"
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

int main()
{
    int *out;
    cudaMalloc(&out, 192 * sizeof(int));
    three<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
