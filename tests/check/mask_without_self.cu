// mask_without_self.cu: lanes that the mask does not name execute the shuffle.
__global__ void share(int *a)
{
    int v = a[threadIdx.x];
#ifdef FIXED
    v += __shfl_xor_sync(0xffffffff, v, 1);
#else
    v += __shfl_xor_sync(0x0000ffff, v, 1); // expect: sync_mask
#endif
    a[threadIdx.x] = v;
}

int main()
{
    int *a;
    cudaMalloc(&a, 32 * sizeof(int));
    cudaMemset(a, 0, 32 * sizeof(int));
    share<<<1, 32>>>(a);
    cudaDeviceSynchronize();
    cudaFree(a);
}
