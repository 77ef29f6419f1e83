// mask_else.cu: a __syncwarp of the whole warp in one branch of two.
__global__ void share(int *a)
{
    int lane = threadIdx.x;
    if (lane % 2) {
        a[lane] = 1;
#ifdef FIXED
        __syncwarp(0xaaaaaaaa);
#else
        __syncwarp(); // expect: sync_mask
#endif
        a[32 + lane] = a[lane ^ 2];
    } else {
        a[lane] = 2;
        a[32 + lane] = 3;
    }
    a[64 + lane] = 4;
}

int main()
{
    int *a;
    cudaMalloc(&a, 96 * sizeof(int));
    share<<<1, 32>>>(a);
    cudaDeviceSynchronize();
    cudaFree(a);
}
