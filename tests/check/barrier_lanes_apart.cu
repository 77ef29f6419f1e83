// barrier_lanes_apart.cu: lanes of one warp wait at two different barriers.
__global__ void odd_even(int *a)
{
    __shared__ int s[32];
    int lane = threadIdx.x;
    if (lane & 1) {
        s[lane] = lane;
#ifndef FIXED
        __syncthreads(); // expect: barrier
#endif
        a[lane] = 1;
    } else {
        s[lane] = -lane;
#ifndef FIXED
        __syncthreads(); // expect: barrier
#endif
        a[lane] = 2;
    }
#ifdef FIXED
    __syncthreads();
#endif
    a[32 + lane] = s[31 - lane];
}

int main()
{
    int *a;
    cudaMalloc(&a, 64 * sizeof(int));
    odd_even<<<1, 32>>>(a);
    cudaDeviceSynchronize();
    cudaFree(a);
}
