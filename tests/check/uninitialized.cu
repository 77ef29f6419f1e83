// uninitialized.cu: the input is allocated and never filled.
__global__ void twice(const int *in, int *out)
{
    out[threadIdx.x] = 2 * in[threadIdx.x]; // expect: uninitialized
}

int main()
{
    int *in, *out;
    cudaMalloc(&in, 32 * sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
#ifdef FIXED
    cudaMemset(in, 0, 32 * sizeof(int));
#endif
    twice<<<1, 32>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
