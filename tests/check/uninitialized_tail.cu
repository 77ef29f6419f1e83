// uninitialized_tail.cu: memset is given elements instead of bytes.
__global__ void sum(const int *in, int *out, int n)
{
    int s = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        s += in[i]; // expect: uninitialized
    out[threadIdx.x] = s;
}

int main()
{
    int *in, *out;
    cudaMalloc(&in, 128 * sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
#ifdef FIXED
    cudaMemset(in, 0, 128 * sizeof(int));
#else
    cudaMemset(in, 0, 128);
#endif
    sum<<<1, 32>>>(in, out, 128);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
