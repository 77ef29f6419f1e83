// oob_shared_carved.cu: two arrays carved out of dynamic shared memory that was sized for one
extern __shared__ float memory[];
__global__ void go(float *b)
{
    float *first = memory, *second = memory + 64;
    int t = threadIdx.x;
    first[t] = t;
    second[t] = t; // expect: out_of_bounds
    __syncthreads();
    b[t] = first[63 - t] + second[63 - t]; // expect: out_of_bounds
}

int main()
{
    float *b;
    cudaMalloc(&b, 256);
#ifdef FIXED
    go<<<1, 64, 512>>>(b);
#else
    go<<<1, 64, 256>>>(b);
#endif
    cudaDeviceSynchronize();
    cudaFree(b);
}
