// uninitialized_copy.cu: a copy within the device does not make bytes initialised.
__global__ void read(const int *in, int *out)
{
    out[threadIdx.x] = in[threadIdx.x]; // expect: uninitialized
}

int main()
{
    int *a, *b, *out;
    cudaMalloc(&a, 32 * sizeof(int));
    cudaMalloc(&b, 32 * sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
#ifdef FIXED
    cudaMemset(a, 0, 32 * sizeof(int));
#endif
    cudaMemcpy(b, a, 32 * sizeof(int), cudaMemcpyDeviceToDevice);
    read<<<1, 32>>>(b, out);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
    cudaFree(out);
}
