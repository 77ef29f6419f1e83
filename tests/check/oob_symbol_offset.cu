// oob_symbol_offset.cu: a copy to a variable that begins half way and has its whole length
__device__ int table[32];
__global__ void go(int *b)
{
    b[threadIdx.x] = table[threadIdx.x];
}

int main()
{
    int host[32] = {}, *b;
    cudaMalloc(&b, 128);
#ifdef FIXED
    cudaMemcpyToSymbol(table, host, 64, 64);
#else
    void *at;
    cudaGetSymbolAddress(&at, table);
    cudaMemcpy((char *)at + 64, host, 128, cudaMemcpyHostToDevice); // expect: out_of_bounds
#endif
    go<<<1, 32>>>(b);
    cudaDeviceSynchronize();
    cudaFree(b);
}
