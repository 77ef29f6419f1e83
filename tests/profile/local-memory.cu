// An array that is indexed by a value, and so cannot be registers; fixed: by constants only.
__global__ void gather(float4 *out, const unsigned *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned seed = in[i];
    float4 bins[4] = {}, sum = {};
#pragma unroll
    for (int k = 0; k < 32; k++) {
        int value = seed >> k % 28 & 3;
        float4 more = make_float4(0.5f, 1, 2, 3);
#ifdef FIXED
#pragma unroll
        for (int j = 0; j < 4; j++)
            if (value == j)
                bins[j].x += more.x, bins[j].y += more.y, bins[j].z += more.z, bins[j].w += more.w;
#else
        float4 old = bins[value]; // <- local-memory
        bins[value] =
            make_float4(old.x + more.x, old.y + more.y, old.z + more.z, old.w + more.w);
#endif
    }
#pragma unroll
    for (int j = 0; j < 4; j++)
        sum.x += bins[j].x, sum.y += bins[j].y, sum.z += bins[j].z, sum.w += bins[j].w;
    out[i] = sum;
}

int main()
{
    const int n = 132 * 6 * 256;
    unsigned *in;
    float4 *out;
    cudaMalloc(&in, n * sizeof(unsigned));
    cudaMalloc(&out, n * sizeof(float4));
    cudaMemset(in, 0x5a, n * sizeof(unsigned));
    gather<<<n / 256, 256>>>(out, in);
    return cudaDeviceSynchronize();
}
