// race_warp_leader.cu: the first thread of each warp adds up what its lanes have just written.
__global__ void sum(const int *in, int *out)
{
    __shared__ int s[128];
    __shared__ int sums[4];
    int i = threadIdx.x;
    s[i] = in[i]; // expect: race
#ifdef FIXED
    __syncwarp();
#endif
    if (i % 32 == 0) {
        sums[i / 32] = 0;
        for (int k = 0; k < 32; k++)
            sums[i / 32] += s[i + k]; // expect: race
    }
    __syncthreads();
    if (i == 0)
        *out = sums[0] + sums[1] + sums[2] + sums[3];
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
