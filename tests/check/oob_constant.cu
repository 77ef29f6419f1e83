// oob_constant.cu: a constant table has one entry less than the block has threads.
__constant__ int table[31] = {1, 2, 3};
__constant__ int after[64];

__global__ void look(int *out, int n)
{
    int i = threadIdx.x;
#ifdef FIXED
    if (i < 31)
#endif
        out[i] = table[i * n]; // expect: out_of_bounds
}

int main()
{
    int *out;
    cudaMalloc(&out, 32 * sizeof(int));
    look<<<1, 32>>>(out, 1);
    cudaDeviceSynchronize();
    cudaFree(out);
}
