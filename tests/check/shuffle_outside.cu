// shuffle_outside.cu: the last 12 lanes of a warp have left, and the sum still shuffles from them.
__global__ void sum(const int *in, int *out, int n)
{
    int i = threadIdx.x;
    if (i >= n)
        return;
#ifdef FIXED
    int v = 0;
    for (int k = 0; k < n; k++)
        v += __shfl_sync((1u << n) - 1, in[i], k);
#else
    int v = in[i];
    for (int offset = 16; offset; offset /= 2)
        v += __shfl_down_sync((1u << n) - 1, v, offset); // expect: sync_mask "undefined shuffle"
#endif
    if (i == 0)
        *out = v; // expect-one: sync_mask
}

int main()
{
    int *in, *out;
    cudaMalloc(&in, 20 * sizeof(int));
    cudaMalloc(&out, sizeof(int));
    cudaMemset(in, 0, 20 * sizeof(int));
    sum<<<1, 32>>>(in, out, 20);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
