// streams.cu: a timeline that can be computed by hand. In each of two streams 4 MiB are copied in, a
// kernel of half the SMs spins, and 4 MiB are copied out. With "graph": the same as a graph.
// With "many": 30,000 memsets, more than a timeline holds.
#include <stdio.h>
#include <string.h>

__global__ void spin(long long cycles)
{
    long long begin = clock64();
    while (clock64() - begin < cycles)
        ;
}

static const size_t bytes = 4 << 20;
static char *host, *device[2];
static cudaStream_t streams[2];

static void pipeline(cudaEvent_t forked, cudaEvent_t joined)
{
    cudaEventRecord(forked, streams[0]);
    cudaStreamWaitEvent(streams[1], forked, 0);
    for (int i = 0; i < 2; i++) {
        cudaMemcpyAsync(device[i], host, bytes, cudaMemcpyHostToDevice, streams[i]);
        spin<<<66, 128, 0, streams[i]>>>(2000000);
        cudaMemcpyAsync(host + bytes, device[i], bytes, cudaMemcpyDeviceToHost, streams[i]);
    }
    cudaEventRecord(joined, streams[1]);
    cudaStreamWaitEvent(streams[0], joined, 0);
}

int main(int argc, char **argv)
{
    cudaEvent_t forked, joined;
    cudaMallocHost(&host, 2 * bytes);
    memset(host, 1, 2 * bytes);
    cudaEventCreate(&forked);
    cudaEventCreate(&joined);
    for (int i = 0; i < 2; i++) {
        cudaMalloc(&device[i], bytes);
        cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking);
    }
    if (argc > 1 && strcmp(argv[1], "many") == 0) {
        for (int i = 0; i < 30000; i++)
            cudaMemsetAsync(device[0], 0, 64, streams[0]);
        spin<<<1, 32, 0, streams[0]>>>(1000);
    } else if (argc > 1) {
        cudaGraph_t graph;
        cudaGraphExec_t exec;
        cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal);
        pipeline(forked, joined);
        cudaStreamEndCapture(streams[0], &graph);
        cudaGraphInstantiate(&exec, graph, 0);
        cudaGraphLaunch(exec, streams[0]);
    } else {
        pipeline(forked, joined);
    }
    cudaError_t error = cudaStreamSynchronize(streams[0]);
    printf("%s\n", cudaGetErrorName(error));
    return error != cudaSuccess;
}
