// oob_pointer.cu: a function that is not inlined writes to an address that was made up.
__device__ __noinline__ void store(int *at)
{
    *at = 42; // expect: out_of_bounds
}

__global__ void call(int *a)
{
#ifdef FIXED
    store(a);
#else
    store((int *)0x87654320);
#endif
}

int main()
{
    int *a;
    cudaMalloc(&a, sizeof(int));
    call<<<1, 1>>>(a);
    cudaDeviceSynchronize();
    cudaFree(a);
}
