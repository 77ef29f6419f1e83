// race_host_copy.cu: the pinned buffers of asynchronous copies are read, overwritten and freed before
// the copies are known to be done.
#include <cstdio>

int main()
{
    int *a, *in, *out, *gone;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMalloc(&a, 4096);
    cudaMemset(a, 0, 4096);
    cudaMallocHost(&in, 4096);
    cudaMallocHost(&out, 4096);
    cudaMallocHost(&gone, 4096);
    for (int i = 0; i < 1024; i++)
        in[i] = gone[i] = i;
    cudaDeviceSynchronize();
    cudaMemcpyAsync(a, in, 4096, cudaMemcpyHostToDevice, stream); // expect: race
#ifdef FIXED
    cudaStreamSynchronize(stream);
#endif
    in[5] = 1; // expect: race "a copy"
    cudaMemcpyAsync(out, a, 4096, cudaMemcpyDeviceToHost, stream); // expect: race
#ifdef FIXED
    cudaStreamSynchronize(stream);
#endif
    printf("%d\n", out[3]); // expect: race "with the host: the host reads"
    cudaMemcpyAsync(a, gone, 4096, cudaMemcpyHostToDevice, stream); // expect: race
#ifdef FIXED
    cudaStreamSynchronize(stream);
#endif
    cudaFreeHost(gone); // expect: race "is freed, while"
    cudaDeviceSynchronize();
    cudaStreamDestroy(stream);
    cudaFree(a);
    cudaFreeHost(in);
    cudaFreeHost(out);
}
