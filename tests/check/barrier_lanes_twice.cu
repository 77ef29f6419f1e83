// barrier_lanes_twice.cu: a barrier inside of a branch that half of a warp takes meets the one after
// the branch, where the other half waits.
__global__ void twice(int *a)
{
    __shared__ int s[32];
    int lane = threadIdx.x;
    s[lane] = lane;
#ifndef FIXED
    if (lane < 16)
        __syncthreads(); // expect: barrier
#endif
    __syncthreads(); // expect: barrier
    a[lane] = s[31 - lane];
}

int main()
{
    int *a;
    cudaMalloc(&a, 32 * sizeof(int));
    twice<<<1, 32>>>(a);
    cudaDeviceSynchronize();
    cudaFree(a);
}
