// right_streams.cu: streams that are ordered by events, by the legacy default stream, by the host, by
// graphs; and streams that share a buffer without touching the same bytes, or only read it.
#include <cstdio>

__global__ void fill(int *a, int v)
{
    a[threadIdx.x] = v;
}

__global__ void add(const int *a, int *b)
{
    b[threadIdx.x] += a[threadIdx.x];
}

__global__ void count(int *total)
{
    atomicAdd(total, 1);
}

int main()
{
    int *a, *b, *c, *pinned;
    cudaStream_t one, two, free_one;
    cudaEvent_t done, back;
    cudaMalloc(&a, 128 * sizeof(int));
    cudaMalloc(&b, 128 * sizeof(int));
    cudaMalloc(&c, 128 * sizeof(int));
    cudaMallocHost(&pinned, 128 * sizeof(int));
    cudaStreamCreate(&one);
    cudaStreamCreate(&two);
    cudaStreamCreateWithFlags(&free_one, cudaStreamNonBlocking);
    cudaEventCreate(&done);
    cudaEventCreate(&back);
    cudaMemset(a, 0, 128 * sizeof(int));
    cudaMemset(b, 0, 128 * sizeof(int));
    cudaMemset(c, 0, 128 * sizeof(int));
    cudaDeviceSynchronize();
    // the legacy stream waits for blocking streams, and they for it
    fill<<<1, 64, 0, one>>>(a, 1);
    add<<<1, 64>>>(a, b);
    fill<<<1, 64, 0, two>>>(a, 2);
    // halves of one buffer, and readers
    cudaDeviceSynchronize();
    fill<<<1, 64, 0, one>>>(a, 1);
    fill<<<1, 64, 0, two>>>(a + 64, 1);
    cudaDeviceSynchronize();
    add<<<1, 64, 0, one>>>(a, b);
    add<<<1, 64, 0, two>>>(a, c);
    cudaMemcpyAsync(pinned, a, 64 * sizeof(int), cudaMemcpyDeviceToHost, free_one);
    // there and back by events
    cudaEventRecord(done, one);
    cudaStreamWaitEvent(free_one, done, 0);
    fill<<<1, 64, 0, free_one>>>(b, 7);
    cudaEventRecord(back, free_one);
    cudaStreamWaitEvent(one, back, 0);
    add<<<1, 64, 0, one>>>(a, b);
    cudaStreamSynchronize(one);
    printf("%d\n", pinned[3]);
    // atomics of two streams
    count<<<1, 64, 0, one>>>(c + 100);
    count<<<1, 64, 0, two>>>(c + 100);
    // the host looks until it is done
    cudaEventRecord(done, two);
    while (cudaEventQuery(done) != cudaSuccess)
        ;
    fill<<<1, 64, 0, free_one>>>(c, 1);
    // a captured graph with a fork and a join
    cudaDeviceSynchronize();
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal);
    fill<<<1, 64, 0, one>>>(a, 4);
    cudaEventRecord(done, one);
    cudaStreamWaitEvent(two, done, 0);
    add<<<1, 64, 0, two>>>(a, b);
    add<<<1, 64, 0, one>>>(a, c);
    cudaEventRecord(back, two);
    cudaStreamWaitEvent(one, back, 0);
    add<<<1, 64, 0, one>>>(b, c);
    cudaStreamEndCapture(one, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, free_one);
    cudaGraphLaunch(exec, two); // one graph does not run beside itself
    fill<<<1, 64, 0, two>>>(a, 1);
    cudaDeviceSynchronize();
    // a stream that is destroyed while it works
    fill<<<1, 64, 0, one>>>(a, 1);
    cudaStreamDestroy(one);
    add<<<1, 64>>>(a, b);
    int *d;
    cudaMallocAsync(&d, 64 * sizeof(int), two);
    fill<<<1, 64, 0, two>>>(d, 1);
    cudaFreeAsync(d, two);
    cudaDeviceSynchronize();
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(two);
    cudaStreamDestroy(free_one);
    cudaEventDestroy(done);
    cudaEventDestroy(back);
    cudaFreeHost(pinned);
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
}
