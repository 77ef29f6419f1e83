// race_half_pairs.cu: two blocks update the two halves of one word by reading and writing all of it
__global__ void go(int *a, int *b)
{
#ifdef FIXED
    ((short *)b)[threadIdx.x * 2 + blockIdx.x] = (short)a[threadIdx.x];
#else
    unsigned old = b[threadIdx.x]; // expect: race
    b[threadIdx.x] = blockIdx.x ? (old & 0xffff) | a[threadIdx.x] << 16 : (old & ~0xffffu) | 1; // expect: race
#endif
}

int main()
{
    int *a, *b;
    cudaMalloc(&a, 4096);
    cudaMalloc(&b, 4096);
    cudaMemset(a, 0, 4096);
    cudaMemset(b, 0, 4096);
    go<<<2, 32>>>(a, b);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
}
