// oob_heap.cu: each thread allocates on the device heap, and one writes past the end of its block.
__global__ void fill(int *out)
{
    int *mine = (int *)malloc((threadIdx.x + 1) * sizeof(int)); // expect: out_of_bounds
    if (!mine)
        return;
    int count = threadIdx.x + 1;
#ifndef FIXED
    count += blockIdx.x == 1 && threadIdx.x == 9;
#endif
    for (int i = 0; i < count; i++)
        mine[i] = i; // expect: out_of_bounds "0 bytes past the end of a block of 40 bytes from device malloc (by block 1, thread 9)"
    out[blockIdx.x * 32 + threadIdx.x] = mine[threadIdx.x];
    free(mine);
}

int main()
{
    int *out;
    cudaMalloc(&out, 64 * sizeof(int));
    fill<<<2, 32>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
