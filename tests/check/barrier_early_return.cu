// barrier_early_return.cu: threads without an element return before the barrier, which is allowed; then one is skipped.
__global__ void shift(const int *in, int *out, int n)
{
    __shared__ int s[128];
    int i = threadIdx.x;
    if (i >= n)
        return;
    s[i] = in[i];
    __syncthreads();
    int v = s[n - 1 - i];
#ifndef FIXED
    if (v > 0)
        __syncthreads(); // expect: barrier
#endif
    out[i] = v;
    out[128 + i] = v;
}

int main()
{
    int host[128], *in, *out;
    for (int i = 0; i < 128; i++)
        host[i] = i % 2;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, 2 * sizeof host);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    shift<<<1, 128>>>(in, out, 100);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
