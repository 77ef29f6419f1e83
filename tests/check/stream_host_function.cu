// stream_host_function.cu: a host function fills pinned memory that a kernel of another stream
// reads
__global__ void go(const int *a, int *b)
{
    b[threadIdx.x] = a[threadIdx.x];
}
static volatile bool launched, filled; // so that every run has the same order of events
static void fill(void *at)
{
    while (!launched) {
    }
    for (int i = 0; i < 64; i++)
        ((int *)at)[i] = i; // expect-one: race
    filled = true;
}

int main()
{
    int *b, *host;
    cudaStream_t one, two;
    cudaMalloc(&b, 256);
    cudaMallocHost(&host, 256);
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
    cudaLaunchHostFunc(one, fill, host); // expect-one: race
#ifdef FIXED
    launched = true;
    cudaStreamSynchronize(one);
#endif
    go<<<1, 64, 0, two>>>(host, b); // expect-one: race
    launched = true;
    while (!filled) {
    }
    cudaDeviceSynchronize();
    cudaFree(b);
    cudaFreeHost(host);
    cudaStreamDestroy(one);
    cudaStreamDestroy(two);
}
