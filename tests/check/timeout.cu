// timeout.cu: a loop whose counter never gets there.
// options: --limit 3000000
__global__ void collatz(unsigned *a, unsigned step)
{
    unsigned v = a[threadIdx.x];
    while (v != 1) // expect-one: timeout
        v = v % 2 ? step * v + 1 : v / 2; // expect-one: timeout
    a[threadIdx.x] = v;
}

int main()
{
    unsigned host[32], *a;
    for (int i = 0; i < 32; i++)
        host[i] = 4 * i + 4;
    cudaMalloc(&a, sizeof host);
    cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
#ifdef FIXED
    collatz<<<1, 32>>>(a, 3);
#else
    collatz<<<1, 32>>>(a, 2);
#endif
    cudaDeviceSynchronize();
    cudaFree(a);
}
