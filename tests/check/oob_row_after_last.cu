// oob_row_after_last.cu: the rows of a pitched matrix are counted to height, inclusive
__global__ void go(char *a, size_t pitch, int width, int height)
{
    int y = threadIdx.y, x = threadIdx.x;
#ifdef FIXED
    if (y < height && x < width)
#else
    if (y <= height && x < width)
#endif
        ((float *)(a + y * pitch))[x] = 1; // expect: out_of_bounds
}

int main()
{
    char *a;
    size_t pitch;
    cudaMallocPitch((void **)&a, &pitch, 30 * 4, 7);
    go<<<1, dim3(32, 8)>>>(a, pitch, 30, 7);
    cudaDeviceSynchronize();
    cudaFree(a);
}
