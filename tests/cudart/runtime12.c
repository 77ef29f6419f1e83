/*
 * runtime12.c: what is different in libcudart.so.12, in C and without NVIDIA's headers: run.sh
 * links it with our library and compares with runtime12.expect, which the real one gave on an H200.
 */
#include "cudart/cudart_abi.h"

#include <stdio.h>
#include <string.h>

cudaError_t cudaGetDeviceProperties_v2(cudaDeviceProp *prop, int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *prop, int device);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaMalloc(void **pointer, size_t size);
cudaError_t cudaMallocManaged(void **pointer, size_t size, unsigned flags);
cudaError_t cudaMemcpy(void *target, const void *source, size_t size, cudaMemcpyKind kind);
cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t size, int device, cudaStream_t stream);
cudaError_t cudaMemPrefetchAsync_v2(const void *pointer, size_t size, cudaMemLocation location,
                                    unsigned flags, cudaStream_t stream);
cudaError_t cudaMemAdvise(const void *pointer, size_t size, int advice, int device);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *pointer);
cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, void *options,
                                void **values, unsigned count, void *library_options,
                                void **library_values, unsigned library_count);
cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name);
cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                             size_t shared, cudaStream_t stream);
cudaError_t cudaThreadSynchronize(void);
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, int mode);
cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, CUstreamCaptureStatus *status,
                                        unsigned long long *id, cudaGraph_t *graph,
                                        const cudaGraphNode_t **dependencies, size_t *count);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count);
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                              size_t *count);
cudaError_t cudaGraphNodeGetDependencies_v2(cudaGraphNode_t node, cudaGraphNode_t *dependencies,
                                            cudaGraphEdgeData *edges, size_t *count);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end);

static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                           ".visible .entry store(.param .u64 p)\n{\n"
                           "    .reg .b64 %rd<3>;\n    .reg .b32 %r<2>;\n"
                           "    ld.param.u64 %rd1, [p];\n    cvta.to.global.u64 %rd2, %rd1;\n"
                           "    mov.u32 %r1, %ntid.x;\n    st.global.u32 [%rd2], %r1;\n"
                           "    ret;\n}\n"
                           ".visible .entry bounded(.param .u64 p) .maxntid 64, 1, 1\n{\n"
                           "    ret;\n}\n";

static void properties(void)
{
    cudaDeviceProp now, before;
    memset(&before, 0x5a, sizeof before);
    printf("properties %d %d\n", cudaGetDeviceProperties_v2(&now, 0),
           cudaGetDeviceProperties(&before, 0));
    printf("%s %d.%d, %d SMs, shared %zu, overlap %d, clock %d\n", now.name, now.major, now.minor,
           now.multiProcessorCount, now.sharedMemPerBlockOptin, now.deviceOverlap,
           now.clockRate > 1000000);
    printf("the older structure is shorter: %d %d\n",
           before.reservedSharedMemPerBlock == now.reservedSharedMemPerBlock,
           before.hostRegisterSupported == 0x5a5a5a5a);
}

static void launches(void)
{
    cudaLibrary_t library;
    cudaKernel_t store, bounded;
    int *p, value;
    void *arguments[] = {&p};
    const dim3 one = {1, 1, 1};
    printf("load %d\n", cudaLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
    printf("kernels %d %d\n", cudaLibraryGetKernel(&store, library, "store"),
           cudaLibraryGetKernel(&bounded, library, "bounded"));
    cudaMalloc((void **)&p, 4);
    printf("launch %d\n", cudaLaunchKernel(store, one, (dim3){32, 1, 1}, arguments, 0, NULL));
    printf("copy %d", cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost));
    printf(" %d\n", value);
    printf("no grid %d\n", cudaLaunchKernel(store, (dim3){0, 1, 1}, one, arguments, 0, NULL));
    printf("no block %d\n", cudaLaunchKernel(store, one, (dim3){0, 1, 1}, arguments, 0, NULL));
    printf("big block %d\n", cudaLaunchKernel(store, one, (dim3){1025, 1, 1}, arguments, 0, NULL));
    printf("deep block %d\n", cudaLaunchKernel(store, one, (dim3){1, 1, 65}, arguments, 0, NULL));
    printf("high grid %d\n", cudaLaunchKernel(store, (dim3){1, 65536, 1}, one, arguments, 0, NULL));
    printf("much shared %d\n", cudaLaunchKernel(store, one, one, arguments, 49153, NULL));
    printf("bounded %d\n", cudaLaunchKernel(bounded, one, (dim3){65, 1, 1}, arguments, 0, NULL));
    printf("synchronize %d\n", cudaThreadSynchronize());

    cudaStream_t stream;
    cudaGraph_t graph, captured;
    cudaGraphNode_t nodes[2];
    const cudaGraphNode_t *dependencies;
    CUstreamCaptureStatus status;
    unsigned long long id;
    size_t count;
    cudaGraphEdgeData edges[2];
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    cudaLaunchKernel(store, one, one, arguments, 0, stream);
    cudaLaunchKernel(store, one, one, arguments, 0, stream);
    printf("capture %d",
           cudaStreamGetCaptureInfo_v2(stream, &status, &id, &captured, &dependencies, &count));
    printf(" status %d, %zu dependency\n", status, count);
    printf("end %d\n", cudaStreamEndCapture(stream, &graph));
    printf("edges %d", cudaGraphGetEdges(graph, NULL, NULL, &count));
    printf(" %zu\n", count);
    count = 2;
    cudaGraphGetNodes(graph, nodes, &count);
    count = 0;
    printf("dependencies %d", cudaGraphNodeGetDependencies_v2(nodes[1], NULL, NULL, &count));
    printf(" %zu %zu\n", count, sizeof edges);
}

int main(void)
{
    int version;
    void *managed;
    cudaPointerAttributes attributes[2];
    memset(attributes, 0x5a, sizeof attributes);
    cudaRuntimeGetVersion(&version);
    printf("version %d\n", version);
    properties();
    launches();
    printf("managed %d\n", cudaMallocManaged(&managed, 4096, 1));
    printf("prefetch %d %d\n", cudaMemPrefetchAsync(managed, 4096, 0, NULL),
           cudaMemPrefetchAsync(managed, 4096, -1, NULL));
    printf("prefetch %d\n",
           cudaMemPrefetchAsync_v2(managed, 4096, (cudaMemLocation){CU_MEM_LOCATION_TYPE_HOST, 0},
                                   0, NULL));
    printf("advise %d\n", cudaMemAdvise(managed, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, 0));
    printf("attributes %d", cudaPointerGetAttributes(attributes, managed));
    printf(" type %d, nothing written behind: %d\n", attributes[0].type,
           attributes[1].device == 0x5a5a5a5a);
    cudaEvent_t start, end;
    float ms = -1;
    cudaEventCreate(&start);
    cudaEventCreate(&end);
    cudaEventRecord(start, NULL);
    cudaEventRecord(end, NULL);
    cudaThreadSynchronize();
    printf("elapsed %d", cudaEventElapsedTime(&ms, start, end));
    printf(" %d\n", ms >= 0);
    return 0;
}
