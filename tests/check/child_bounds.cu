// child_bounds.cu: a kernel that a kernel launched writes past the end of an array.
// options: -rdc=true
__global__ void child(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef FIXED
    if (i < n)
#endif
        out[i] = i; // expect: out_of_bounds
}

__global__ void parent(int *out, int n)
{
    child<<<(n + 31) / 32, 32>>>(out, n);
}

int main()
{
    int *out;
    cudaMalloc(&out, 40 * sizeof *out);
    parent<<<1, 1>>>(out, 40);
    cudaDeviceSynchronize();
    cudaFree(out);
    return 0;
}
