// oob_before.cu: the first thread has no left neighbour.
__global__ void difference(const int *in, int *out)
{
    int i = threadIdx.x;
#ifdef FIXED
    out[i] = i ? in[i] - in[i - 1] : in[i];
#else
    out[i] = in[i] - in[i - 1]; // expect: out_of_bounds
#endif
}

int main()
{
    int *in, *out;
    cudaMalloc(&in, 64 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemset(in, 1, 64 * sizeof(int));
    difference<<<1, 64>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
