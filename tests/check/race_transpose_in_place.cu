// race_transpose_in_place.cu: a transpose in place in which both threads of a pair swap
__global__ void go(int *a, int *b)
{
    int x = threadIdx.x, y = blockIdx.x;
#ifdef FIXED
    if (x <= y)
        return;
#endif
    int u = a[y * 32 + x], v = a[x * 32 + y]; // expect: race
    a[y * 32 + x] = v; // expect: race
    a[x * 32 + y] = u; // expect: race
}

int main()
{
    int *a, *b;
    cudaMalloc(&a, 4096);
    cudaMalloc(&b, 4096);
    cudaMemset(a, 0, 4096);
    cudaMemset(b, 0, 4096);
    go<<<32, 32>>>(a, b);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
}
