// oob_write.cu: the loop runs one element too far.
__global__ void fill(int *out, int n)
{
#ifdef FIXED
    for (int i = threadIdx.x; i < n; i += blockDim.x)
#else
    for (int i = threadIdx.x; i <= n; i += blockDim.x)
#endif
        out[i] = i; // expect: out_of_bounds
}

int main()
{
    int *out;
    cudaMalloc(&out, 100 * sizeof(int));
    fill<<<1, 32>>>(out, 100);
    cudaDeviceSynchronize();
    cudaFree(out);
}
