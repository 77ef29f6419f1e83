// oob_inlined.cu: the access is in a function that is inlined.
__device__ int get(const int *a, int i)
{
    return a[i]; // expect: out_of_bounds
}

__global__ void shift(const int *a, int *b, int n)
{
    int i = threadIdx.x;
#ifdef FIXED
    b[i] = i + 1 < n ? get(a, i + 1) : 0;
#else
    b[i] = get(a, i + 1);
#endif
}

int main()
{
    int *a, *b;
    cudaMalloc(&a, 32 * sizeof(int));
    cudaMalloc(&b, 32 * sizeof(int));
    cudaMemset(a, 0, 32 * sizeof(int));
    shift<<<1, 32>>>(a, b, 32);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
}
