// A copy byte by byte; fixed: 16 bytes at a time.
#ifdef FIXED
typedef uint4 element;
#else
typedef unsigned char element;
#endif

__global__ void copy(element *out, const element *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i]; // <- narrow-loads
}

int main()
{
    const int bytes = 12 << 20, n = bytes / sizeof(element);
    element *in, *out;
    cudaMalloc(&in, bytes);
    cudaMalloc(&out, bytes);
    copy<<<(n + 255) / 256, 256>>>(out, in, n);
    return cudaDeviceSynchronize();
}
