// use_after_free_heap.cu: a thread reads a block of the device heap that it has freed, and another
// frees its block twice.
__global__ void use(int *out)
{
    int *mine = (int *)malloc(8 * sizeof(int));
    mine[0] = threadIdx.x;
#ifdef FIXED
    out[threadIdx.x] = mine[0];
    free(mine);
#else
    free(mine); // expect: use_after_free
    out[threadIdx.x] = mine[0]; // expect: use_after_free "device heap"
#endif
}

__global__ void twice()
{
    char *mine = (char *)malloc(100);
    free(mine); // expect: invalid_free
#ifndef FIXED
    free(mine); // expect: invalid_free "double free"
#endif
}

int main()
{
    int *out;
    cudaMalloc(&out, sizeof(int));
    use<<<1, 1>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
    twice<<<1, 1>>>();
    cudaDeviceSynchronize();
}
