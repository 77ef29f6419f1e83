// pack: each thread writes its three words of shared memory through a pointer.
__global__ void pack(const float *red, const float *green, const float *blue, float *pixels, int n)
{
    __shared__ float3 row[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    if (i < n)
        row[t] = make_float3(red[i], green[i], blue[i]);
    __syncthreads();
    const float *flat = (const float *)row;
    long first = (long)blockIdx.x * 768;
    for (int k = t; k < 768 && first + k < 3L * n; k += 256)
        pixels[first + k] = flat[k];
}
