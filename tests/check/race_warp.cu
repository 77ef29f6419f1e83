// race_warp.cu: lanes of a warp exchange values through shared memory without __syncwarp.
__global__ void sum(const int *in, int *out)
{
    __shared__ int s[32];
    int lane = threadIdx.x;
    s[lane] = in[lane]; // expect: race
#ifdef FIXED
    __syncwarp();
#endif
    int other = s[lane ^ 1]; // expect: race
    out[lane] = other;
}

int main()
{
    int *in, *out;
    cudaMalloc(&in, 32 * sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMemset(in, 0, 32 * sizeof(int));
    sum<<<1, 32>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
