// misaligned_shared.cu: doubles after an odd number of ints in dynamic shared memory.
__global__ void split(double *out, int count)
{
    extern __shared__ int ints[];
    double *doubles = (double *)(ints + count);
    doubles[threadIdx.x] = threadIdx.x; // expect: misaligned
    __syncthreads();
    out[threadIdx.x] = doubles[31 - threadIdx.x]; // expect: misaligned
}

int main()
{
    double *out;
    cudaMalloc(&out, 32 * sizeof(double));
#ifdef FIXED
    split<<<1, 32, 512>>>(out, 8);
#else
    split<<<1, 32, 512>>>(out, 7);
#endif
    cudaDeviceSynchronize();
    cudaFree(out);
}
