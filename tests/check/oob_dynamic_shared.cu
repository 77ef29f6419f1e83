// oob_dynamic_shared.cu: the launch passes a number of elements as bytes.
__global__ void reverse(float *a)
{
    extern __shared__ float tile[];
    tile[threadIdx.x] = a[threadIdx.x]; // expect: out_of_bounds
    __syncthreads();
    a[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x]; // expect: out_of_bounds
}

int main()
{
    float *a;
    cudaMalloc(&a, 64 * sizeof(float));
    cudaMemset(a, 0, 64 * sizeof(float));
#ifdef FIXED
    reverse<<<1, 64, 64 * sizeof(float)>>>(a);
#else
    reverse<<<1, 64, 64>>>(a);
#endif
    cudaDeviceSynchronize();
    cudaFree(a);
}
