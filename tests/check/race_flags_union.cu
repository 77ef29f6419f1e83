// race_flags_union.cu: two arrays in the same dynamic shared memory that overlap by one element
extern __shared__ int memory[];
__global__ void go(int *a, int *b)
{
    int t = threadIdx.x;
#ifdef FIXED
    int *first = memory, *second = memory + 65;
#else
    int *first = memory, *second = memory + 64;
#endif
    first[t + 1] = a[t]; // expect: race
    second[t] = a[t] + 1; // expect: race
    __syncthreads();
    b[t] = first[t + 1] + second[t];
}

int main()
{
    int *a, *b;
    cudaMalloc(&a, 4096);
    cudaMalloc(&b, 4096);
    cudaMemset(a, 0, 4096);
    cudaMemset(b, 0, 4096);
    go<<<1, 64, 129 * sizeof(int)>>>(a, b);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
}
