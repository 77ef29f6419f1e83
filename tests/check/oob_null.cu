// oob_null.cu: the allocation was forgotten.
__global__ void store(int *a)
{
    a[threadIdx.x] = 1; // expect: out_of_bounds
}

int main()
{
    int *a = nullptr;
#ifdef FIXED
    cudaMalloc(&a, 32 * sizeof(int));
#endif
    store<<<1, 32>>>(a);
    cudaDeviceSynchronize();
    cudaFree(a);
}
