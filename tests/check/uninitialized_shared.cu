// uninitialized_shared.cu: only some threads fill the tile, all read it.
__global__ void pad(const int *in, int *out, int n)
{
    __shared__ int tile[64];
    if (threadIdx.x < n)
        tile[threadIdx.x] = in[threadIdx.x];
#ifdef FIXED
    else
        tile[threadIdx.x] = 0;
#endif
    __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x]; // expect: uninitialized
}

int main()
{
    int *in, *out;
    cudaMalloc(&in, 64 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemset(in, 0, 64 * sizeof(int));
    pad<<<1, 64>>>(in, out, 60);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
