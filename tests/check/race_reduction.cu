// race_reduction.cu: a tree reduction with its barrier in the wrong place.
__global__ void sum(const int *in, int *out)
{
    __shared__ int s[256];
    int i = threadIdx.x;
    s[i] = in[i];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (i < half)
            s[i] += s[i + half]; // expect: race
#ifdef FIXED
        __syncthreads();
#endif
    }
    if (i == 0)
        *out = s[0];
}

int main()
{
    int *in, *out;
    cudaMalloc(&in, 256 * sizeof(int));
    cudaMalloc(&out, sizeof(int));
    cudaMemset(in, 1, 256 * sizeof(int));
    sum<<<1, 256>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
