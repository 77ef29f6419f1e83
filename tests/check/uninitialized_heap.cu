// uninitialized_heap.cu: device malloc gives memory that nobody has set to zero.
__global__ void count(int *out)
{
    int *mine = (int *)malloc(4 * sizeof(int));
#ifdef FIXED
    for (int i = 0; i < 4; i++)
        mine[i] = 0;
#endif
    mine[threadIdx.x] += 1; // expect: uninitialized
    out[threadIdx.x] = mine[threadIdx.x];
    free(mine);
}

int main()
{
    int *out;
    cudaMalloc(&out, 4 * sizeof(int));
    count<<<1, 4>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
