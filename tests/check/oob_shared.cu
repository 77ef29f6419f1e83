// oob_shared.cu: a static shared array is too short for the block.
#ifdef FIXED
enum { SIZE = 128 };
#else
enum { SIZE = 96 };
#endif

__global__ void reverse(int *a)
{
    __shared__ int tile[SIZE];
    tile[threadIdx.x] = a[threadIdx.x]; // expect: out_of_bounds
    __syncthreads();
    if (127 - threadIdx.x < SIZE)
        a[threadIdx.x] = tile[127 - threadIdx.x];
}

int main()
{
    int *a;
    cudaMalloc(&a, 128 * sizeof(int));
    cudaMemset(a, 0, 128 * sizeof(int));
    reverse<<<1, 128>>>(a);
    cudaDeviceSynchronize();
    cudaFree(a);
}
