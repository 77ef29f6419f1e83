// misaligned_variable.cu: an int at an odd address.
__device__ int x[2];

__global__ void store(int offset)
{
    *(int *)((char *)x + offset) = 42; // expect: misaligned
}

int main()
{
#ifdef FIXED
    store<<<1, 1>>>(4);
#else
    store<<<1, 1>>>(1);
#endif
    cudaDeviceSynchronize();
}
