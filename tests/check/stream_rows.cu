// stream_rows.cu: two streams write bands of a pitched image that overlap by a row
__global__ void go(char *a, size_t pitch, int first)
{
    ((int *)(a + (first + blockIdx.x) * pitch))[threadIdx.x] = first; // expect-one: race
}

int main()
{
    char *a;
    size_t pitch;
    cudaStream_t one, two;
    cudaMallocPitch((void **)&a, &pitch, 100, 16);
    cudaStreamCreate(&one);
    cudaStreamCreate(&two);
#ifdef FIXED
    go<<<8, 25, 0, one>>>(a, pitch, 0);
#else
    go<<<9, 25, 0, one>>>(a, pitch, 0); // expect-one: race
#endif
    go<<<8, 25, 0, two>>>(a, pitch, 8); // expect-one: race
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaStreamDestroy(one);
    cudaStreamDestroy(two);
}
