// stale_read.cu: __ldg of what the same launch has written: the cache that serves it
// does not see the write, not even with a barrier between the two.
__global__ void smooth(int *a, int *out)
{
    int i = threadIdx.x;
    a[i] = i; // expect: stale_read
    __syncthreads();
#ifdef FIXED
    out[i] = a[(i + 1) % 64];
#else
    out[i] = __ldg(&a[(i + 1) % 64]); // expect: stale_read "ld.global.nc"
#endif
}

int main()
{
    int *a, *out;
    cudaMalloc(&a, 64 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    smooth<<<1, 64>>>(a, out);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(out);
}
