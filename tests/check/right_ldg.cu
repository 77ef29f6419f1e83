// right_ldg.cu: __ldg of what an earlier launch or the host wrote; and in place, where each thread
// reads its element before it writes it.
__global__ void fill(int *a)
{
    a[threadIdx.x] = threadIdx.x;
}

__global__ void twice(int *a)
{
    a[threadIdx.x] = 2 * __ldg(&a[threadIdx.x]);
}

int main()
{
    int *a, host[64] = {0};
    cudaMalloc(&a, 64 * sizeof(int));
    cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
    twice<<<1, 64>>>(a);
    fill<<<1, 64>>>(a);
    twice<<<1, 64>>>(a);
    twice<<<1, 64>>>(a);
    cudaDeviceSynchronize();
    cudaFree(a);
}
