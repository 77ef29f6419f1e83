// index_overflow.cu: a product of two ints does not fit into an int.
__global__ void mark(char *a, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef FIXED
    a[(size_t)i * stride] = 1;
#else
    a[i * stride] = 1; // expect: out_of_bounds "overflows 32 bits"
#endif
}

int main()
{
    const int stride = 1 << 25;
    char *a;
    cudaMalloc(&a, (size_t)stride * 96);
    mark<<<3, 32>>>(a, stride);
    cudaDeviceSynchronize();
    cudaFree(a);
}
