// race_bytes.cu: bytes of one word, written by threads of two warps.
__global__ void mark(unsigned char *a, int shift)
{
    __shared__ unsigned char s[128];
    s[threadIdx.x] = threadIdx.x; // expect: race
#ifdef FIXED
    __syncthreads();
#endif
    a[threadIdx.x] = s[(threadIdx.x + shift) & 63]; // expect: race
}

int main()
{
    unsigned char *a;
    cudaMalloc(&a, 64);
    mark<<<1, 64>>>(a, 32);
    cudaDeviceSynchronize();
    cudaFree(a);
}
