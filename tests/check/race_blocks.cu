// race_blocks.cu: a stencil in place: blocks read what their neighbours write.
__global__ void smooth(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 1 < n)
        to[i] = 0.5f * (from[i] + from[i + 1]); // expect: race
}

int main()
{
    const int n = 256;
    float *a, *b;
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&b, n * sizeof(float));
    cudaMemset(a, 0, n * sizeof(float));
#ifdef FIXED
    smooth<<<8, 32>>>(b, a, n);
#else
    smooth<<<8, 32>>>(a, a, n);
#endif
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
}
