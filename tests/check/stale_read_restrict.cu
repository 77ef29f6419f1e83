// stale_read_restrict.cu: the compiler turns const __restrict__ into ld.global.nc, and the caller
// passes the same buffer twice.
__global__ void next(const int *__restrict__ in, int *__restrict__ out)
{
    out[threadIdx.x] = 2; // expect: stale_read
    __syncthreads();
    int v = in[threadIdx.x]; // expect: stale_read
    out[64 + threadIdx.x] = v;
}

int main()
{
    int *a, *b;
    cudaMalloc(&a, 128 * sizeof(int));
    cudaMalloc(&b, 128 * sizeof(int));
    cudaMemset(a, 0, 128 * sizeof(int));
    cudaMemset(b, 0, 128 * sizeof(int));
#ifdef FIXED
    next<<<1, 64>>>(a, b);
#else
    next<<<1, 64>>>(a, a);
#endif
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
}
