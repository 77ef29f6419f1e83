// oob_shared_neighbour.cu: one shared array overflows into the next.
__global__ void two(int *out, int n)
{
    __shared__ int left[32], right[32];
    right[threadIdx.x] = 5;
    left[threadIdx.x] = 3;
    __syncwarp();
#ifdef FIXED
    int v = threadIdx.x + 1 < n ? left[threadIdx.x + 1] : 0;
#else
    int v = left[threadIdx.x + 1]; // expect: out_of_bounds
#endif
    out[threadIdx.x] = v + right[n - 1 - threadIdx.x];
}

int main()
{
    int *out;
    cudaMalloc(&out, 32 * sizeof(int));
    two<<<1, 32>>>(out, 32);
    cudaDeviceSynchronize();
    cudaFree(out);
}
