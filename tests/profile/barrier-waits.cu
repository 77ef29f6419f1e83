// One warp adds up for the block while seven wait; fixed: every warp for itself.
__global__ void sums(float *out, const float *in)
{
    __shared__ float values[256];
    int t = threadIdx.x;
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < 16; k++) {
        values[t] = in[(blockIdx.x * 16 + k) * 256 + t];
#ifdef FIXED
        for (int i = 16; i; i >>= 1)
            values[t] += __shfl_down_sync(0xffffffff, values[t], i);
        sum += values[t];
#else
        __syncthreads();
        if (t < 32)
#pragma unroll 1
            for (int i = 0; i < 256; i++)
                sum += values[(t + i) % 256];
        __syncthreads(); // <- barrier-waits
#endif
    }
    out[blockIdx.x * 256 + t] = sum;
}

int main()
{
    const int blocks = 132;
    float *in, *out;
    cudaMalloc(&in, blocks * 16 * 256 * sizeof(float));
    cudaMalloc(&out, blocks * 256 * sizeof(float));
    sums<<<blocks, 256>>>(out, in);
    return cudaDeviceSynchronize();
}
