// use_after_free.cu: a kernel after the cudaFree of what it reads.
__global__ void copy(const int *in, int *out)
{
    out[threadIdx.x] = in[threadIdx.x]; // expect: use_after_free
}

int main()
{
    int *in, *out;
    cudaMalloc(&in, 32 * sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMemset(in, 0, 32 * sizeof(int));
#ifdef FIXED
    copy<<<1, 32>>>(in, out);
    cudaFree(in);
#else
    cudaFree(in);
    copy<<<1, 32>>>(in, out);
#endif
    cudaDeviceSynchronize();
    cudaFree(out);
}
