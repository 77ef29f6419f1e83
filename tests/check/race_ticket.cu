// race_ticket.cu: the last block adds up what others stored, but only its first thread has seen
// the ticket
__global__ void go(int *a, int *b)
{
    __shared__ bool last;
    int t = threadIdx.x;
    b[1 + blockIdx.x * 64 + t] = a[t] + 1; // expect: race
#ifdef FIXED
    __threadfence();
    __syncthreads();
#else
    __syncthreads();
#endif
    if (t == 0)
        last = atomicAdd((int *)(b + 900), 1) == gridDim.x - 1;
    __syncthreads();
    if (!last)
        return;
    __threadfence();
    int sum = 0;
    for (unsigned i = 0; i < gridDim.x; i++)
        sum += b[1 + i * 64 + t]; // expect: race
    atomicAdd(b, sum);
}

int main()
{
    int *a, *b;
    cudaMalloc(&a, 4096);
    cudaMalloc(&b, 4096);
    cudaMemset(a, 0, 4096);
    cudaMemset(b, 0, 4096);
    go<<<4, 64>>>(a, b);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
}
