// oob_managed.cu: managed memory, one past its end.
__global__ void fill(short *a, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        a[i] = 1; // expect: out_of_bounds
}

int main()
{
    short *a;
    cudaMallocManaged(&a, 33 * sizeof(short));
#ifdef FIXED
    fill<<<1, 32>>>(a, 33);
#else
    fill<<<1, 32>>>(a, 34);
#endif
    cudaDeviceSynchronize();
    cudaFree(a);
}
