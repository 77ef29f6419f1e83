// uninitialized_sum.cu: atomics add to a sum that was never set to zero.
__global__ void sum(int *total)
{
    atomicAdd(total, 1); // expect: uninitialized
}

int main()
{
    int *total;
    cudaMalloc(&total, sizeof(int));
#ifdef FIXED
    cudaMemset(total, 0, sizeof(int));
#endif
    sum<<<2, 32>>>(total);
    cudaDeviceSynchronize();
    cudaFree(total);
}
