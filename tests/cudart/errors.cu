// errors.cu: what the runtime answers to wrong calls, and how the last error is kept.
#include "check.h"
#include <thread>

__device__ int variable;
__constant__ int constants[4];
__global__ void kernel(int *p)
{
    if (p)
        p[threadIdx.x] = variable + constants[0];
}
static int host;

static void devices()
{
    int value;
    cudaDeviceProp prop;
    SHOW(cudaSetDevice(99));
    SHOW(cudaSetDevice(-1));
    SHOW(cudaGetDeviceCount(nullptr));
    SHOW(cudaGetDeviceProperties(&prop, 99));
    SHOW(cudaDeviceGetAttribute(&value, (cudaDeviceAttr)9999, 0));
    SHOW(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 7));
    SHOW(cudaSetDeviceFlags(0x1000));
    SHOW(cudaDeviceCanAccessPeer(&value, 0, 1));
    SHOW(cudaDeviceEnablePeerAccess(0, 0));
    SHOW(cudaDeviceDisablePeerAccess(0));
    size_t limit;
    SHOW(cudaDeviceGetLimit(&limit, (cudaLimit)3));
}

static void memory()
{
    void *p = (void *)5;
    SHOW(cudaMalloc(&p, 0));
    printf("%d\n", p == nullptr);
    SHOW(cudaMalloc((void **)nullptr, 4));
    SHOW(cudaMalloc(&p, 1ull << 50));
    SHOW(cudaMalloc(&p, 100));
    SHOW(cudaFree(nullptr));
    SHOW(cudaFree(&host));
    SHOW(cudaFree((char *)p + 4));
    SHOW(cudaFree(p));
    SHOW(cudaFree(p));
    SHOW(cudaFreeHost(nullptr));
    SHOW(cudaFreeHost(&host));
    SHOW(cudaHostAlloc(&p, 100, 0x100));
    SHOW(cudaMallocManaged(&p, 10, 7));
    SHOW(cudaHostAlloc(&p, 100, 0));
    SHOW(cudaFree(p));
    SHOW(cudaFreeHost(p));
    SHOW(cudaHostUnregister(&host));
    SHOW(cudaHostRegister(nullptr, 10, 0));
}

static void copies()
{
    int *a, *b, h[100] = {0};
    MUST(cudaMalloc(&a, 400));
    MUST(cudaMalloc(&b, 400));
    SHOW(cudaMemcpy(h, a, 400, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy(a, h, 400, cudaMemcpyDeviceToHost));
    SHOW(cudaMemcpy(a, b, 400, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy(a, h, 400, cudaMemcpyDeviceToDevice));
    SHOW(cudaMemcpy(a, h, 400, cudaMemcpyDefault));
    SHOW(cudaMemcpy(a, b, 400, cudaMemcpyHostToHost));
    SHOW(cudaMemcpy(h, a, 4, (cudaMemcpyKind)7));
    SHOW(cudaMemcpy(nullptr, a, 4, cudaMemcpyDeviceToHost));
    SHOW(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyDeviceToHost));
    SHOW(cudaMemcpy(a, h, 4096 * 1024, cudaMemcpyHostToDevice));
    SHOW(cudaMemset(h, 1, 400));
    SHOW(cudaMemset(a, 1, 1 << 24));
    SHOW(cudaMemset(nullptr, 1, 0));
    SHOW(cudaMemset(nullptr, 1, 4));
    SHOW(cudaMemcpy2D(a, 50, h, 100, 100, 2, cudaMemcpyHostToDevice));
    SHOW(cudaMemset2D(a, 10, 0, 20, 2));
    SHOW(cudaMemcpyPeer(a, 0, b, 5, 16));
    SHOW(cudaMemcpyToSymbol(constants, h, 20));
    SHOW(cudaMemcpyToSymbol(constants, h, 8, 12));
    SHOW(cudaMemcpyToSymbol((const void *)&host, h, 4));
    SHOW(cudaMemcpyFromSymbol(h, constants, 4, 0, cudaMemcpyHostToDevice));
    void *p;
    SHOW(cudaGetSymbolAddress(&p, (const void *)&host));
}

static void functions()
{
    cudaFuncAttributes attributes;
    cudaFunction_t function;
    cudaKernel_t handle;
    int blocks, *p = nullptr;
    void *arguments[] = {&p};
    SHOW(cudaFuncGetAttributes(&attributes, (const void *)&host));
    SHOW(cudaFuncGetAttributes(&attributes, (const void *)nullptr));
    SHOW(cudaFuncSetAttribute(kernel, (cudaFuncAttribute)77, 1));
    SHOW(cudaGetFuncBySymbol(&function, (const void *)&host));
    SHOW(cudaGetKernel(&handle, (const void *)&host));
    SHOW(cudaLaunchKernel((const void *)nullptr, 1, 1, arguments, 0, 0));
    SHOW(cudaLaunchKernel((const void *)&host, 1, 1, arguments, 0, 0));
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 0, 0));
}

static void streams()
{
    cudaEvent_t a, b, untimed;
    cudaStream_t s;
    float ms;
    MUST(cudaEventCreate(&a));
    MUST(cudaEventCreate(&b));
    MUST(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    SHOW(cudaEventCreateWithFlags(&b, 0x100));
    SHOW(cudaEventQuery(a));
    SHOW(cudaEventElapsedTime(&ms, a, b));
    MUST(cudaEventRecord(a));
    MUST(cudaEventRecord(untimed));
    MUST(cudaDeviceSynchronize());
    SHOW(cudaEventElapsedTime(&ms, a, untimed));
    SHOW(cudaEventElapsedTime(nullptr, a, a));
    SHOW(cudaEventDestroy(nullptr));
    SHOW(cudaEventRecord(nullptr));
    SHOW(cudaStreamCreateWithFlags(&s, 8));
    SHOW(cudaStreamDestroy(nullptr));
    SHOW(cudaStreamDestroy(cudaStreamLegacy));
    SHOW(cudaStreamWaitEvent(0, nullptr, 0));
    SHOW(cudaStreamWaitEvent(0, a, 8));
    SHOW(cudaLaunchHostFunc(0, nullptr, nullptr));
}

static void last_error()
{
    int device;
    cudaMalloc((void **)nullptr, 4);
    cudaGetDevice(&device);
    printf("a later success keeps it: %d\n", cudaPeekAtLastError());
    std::thread([] { printf("another thread has its own: %d\n", cudaGetLastError()); }).join();
    cudaSetDevice(99);
    printf("a later error replaces it: %d\n", cudaGetLastError());
    printf("taking it clears it: %d\n", cudaGetLastError());
    printf("%s / %s\n", cudaGetErrorName((cudaError_t)12345),
           cudaGetErrorString((cudaError_t)4321));
    printf("%s / %s\n", cudaGetErrorName(cudaErrorIllegalAddress),
           cudaGetErrorString(cudaErrorIllegalAddress));
}

int main()
{
    devices();
    memory();
    copies();
    functions();
    streams();
    last_error();
}
