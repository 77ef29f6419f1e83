// race_tree_no_barrier.cu: the steps of a sum by halves, without a barrier between them: lanes of a warp
// meet, and warps too, for which __syncwarp would not be enough.
__global__ void sum(const int *in, int *out)
{
    __shared__ int s[128];
    int i = threadIdx.x;
    s[i] = in[i];
    __syncthreads();
    for (int step = 64; step > 0; step /= 2) {
        if (i < step)
            s[i] += s[i + step]; // expect: race "also between warps of the block, which need __syncthreads()"
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
    cudaMalloc(&in, 128 * sizeof(int));
    cudaMalloc(&out, sizeof(int));
    cudaMemset(in, 0, 128 * sizeof(int));
    sum<<<1, 128>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
