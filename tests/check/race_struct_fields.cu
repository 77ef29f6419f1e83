// race_struct_fields.cu: two warps write neighbouring fields of one structure, one of them as a
// copy of all
struct cell { int key, count; };
__global__ void go(int *a, int *b)
{
    __shared__ cell cells[32];
    int t = threadIdx.x & 31;
    if (threadIdx.x < 32)
#ifdef FIXED
        cells[t].key = a[t];
#else
        *(long long *)&cells[t] = *(long long *)&a[t * 2]; // expect: race
#endif
    else
        cells[t].count = 1; // expect: race
    __syncthreads();
    b[t] = cells[t].count;
}

int main()
{
    int *a, *b;
    cudaMalloc(&a, 4096);
    cudaMalloc(&b, 4096);
    cudaMemset(a, 0, 4096);
    cudaMemset(b, 0, 4096);
    go<<<1, 64>>>(a, b);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
}
