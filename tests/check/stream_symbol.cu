// stream_symbol.cu: a table in constant memory is changed while a kernel of another stream reads it
__constant__ int table[64];
__global__ void go(int *b)
{
    b[threadIdx.x] = table[threadIdx.x]; // expect-one: race
}

int main()
{
    int *b, *host;
    cudaStream_t one, two;
    cudaMalloc(&b, 256);
    cudaMallocHost(&host, 256);
    memset(host, 0, 256);
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
    cudaMemcpyToSymbolAsync(table, host, 256, 0, cudaMemcpyHostToDevice, one); // expect-one: race
#ifdef FIXED
    cudaStreamSynchronize(one);
#endif
    go<<<1, 64, 0, two>>>(b); // expect-one: race
    cudaDeviceSynchronize();
    cudaFree(b);
    cudaFreeHost(host);
    cudaStreamDestroy(one);
    cudaStreamDestroy(two);
}
