// stuck_cached_load.cu: a wait by __ldcg, which does not look like one, for a flag that is never set.
#ifdef FIXED
__device__ int ready = 1;
#else
__device__ int ready;
#endif

__global__ void consume(int *out)
{
    while (__ldcg(&ready) == 0) // expect: timeout
        __threadfence();
    out[threadIdx.x] = 1;
}

int main()
{
    int *out;
    cudaMalloc(&out, 32 * sizeof(int));
    consume<<<2, 32>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
