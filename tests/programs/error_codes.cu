// Errors of the host side, none of which sticks: bad launch configurations, too much shared memory,
// bad devices, bad pointers and sizes, wrong copies, invalid handles; the last error and its reset;
// names and strings of many codes.
// cuda: 13.0

#include <cstdio>

__global__ void nothing(int *p)
{
    if (p)
        *p = 1;
}

__global__ void __launch_bounds__(128) bounded(int *p)
{
    if (p)
        *p = 2;
}

__global__ void wants_shared(int *p)
{
    __shared__ int s[1024];
    extern __shared__ int dynamic[];
    s[threadIdx.x] = threadIdx.x;
    dynamic[threadIdx.x] = 1;
    __syncthreads();
    if (p)
        *p = s[0] + dynamic[0];
}

static void show(const char *what, cudaError_t status)
{
    printf("%-34s %s\n", what, cudaGetErrorName(status));
}

static void launched(const char *what)
{
    cudaError_t peek = cudaPeekAtLastError(), get = cudaGetLastError(), after = cudaGetLastError();
    cudaError_t sync = cudaDeviceSynchronize();
    printf("%-34s %s, again %s, then %s, sync %s\n", what, cudaGetErrorName(peek),
           cudaGetErrorName(get), cudaGetErrorName(after), cudaGetErrorName(sync));
}

int main()
{
    int *p = nullptr;
    nothing<<<1, 1025>>>(p);
    launched("1025 threads");
    nothing<<<1, dim3(32, 32, 2)>>>(p);
    launched("32 x 32 x 2 threads");
    nothing<<<1, dim3(1, 1, 65)>>>(p);
    launched("z of 65");
    nothing<<<0, 32>>>(p);
    launched("no blocks");
    nothing<<<1, 0>>>(p);
    launched("no threads");
    nothing<<<dim3(1, 65536), 32>>>(p);
    launched("y of 65536");
    nothing<<<dim3(1, 1, 65536), 32>>>(p);
    launched("grid z of 65536");
    bounded<<<1, 256>>>(p);
    launched("more than the launch bounds");
    wants_shared<<<1, 32, 48 * 1024>>>(p);
    launched("48 K dynamic beside 4 K static");
    nothing<<<1, 32, 1 << 20>>>(p);
    launched("1 M dynamic shared memory");
    nothing<<<1, 32>>>(p);
    launched("a good one");

    int devices = 0, device = -1;
    show("device count", cudaGetDeviceCount(&devices));
    show("device 99", cudaSetDevice(99));
    show("device -1", cudaSetDevice(-1));
    show("current", cudaGetDevice(&device));
    cudaDeviceProp properties;
    show("properties of 99", cudaGetDeviceProperties(&properties, 99));
    cudaGetLastError();

    int host[4], *good;
    show("malloc", cudaMalloc(&good, 16));
    show("malloc of 0", cudaMalloc(&p, 0));
    printf("pointer of 0 bytes is null: %s\n", p ? "no" : "yes");
    show("malloc to null", cudaMalloc((void **)nullptr, 16));
    show("copy past the end", cudaMemcpy(good, host, 1 << 30, cudaMemcpyHostToDevice));
    show("copy of 0 bytes", cudaMemcpy(good, host, 0, cudaMemcpyHostToDevice));
    show("wrong direction", cudaMemcpy(host, good, 16, cudaMemcpyHostToDevice));
    show("kind 9", cudaMemcpy(host, good, 16, (cudaMemcpyKind)9));
    show("memset past the end", cudaMemset(good, 0, 1 << 30));
    show("memset of null", cudaMemset(nullptr, 0, 4));
    show("free twice, first", cudaFree(good));
    show("free twice, second", cudaFree(good));
    show("free of a host pointer", cudaFree(host));
    show("free host of a host pointer", cudaFreeHost(host));
    cudaGetLastError();
    show("set limit 99", cudaDeviceSetLimit((cudaLimit)99, 1));
    int value;
    show("attribute 9999", cudaDeviceGetAttribute(&value, (cudaDeviceAttr)9999, 0));
    show("function attributes of null",
         cudaFuncSetAttribute((const void *)nullptr, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              1));
    show("too large an opt-in",
         cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20));
    cudaGetLastError();
    float ms;
    cudaEvent_t event;
    cudaEventCreate(&event);
    show("elapsed, never recorded", cudaEventElapsedTime(&ms, event, event));
    show("query, never recorded", cudaEventQuery(event));
    show("null event", cudaEventRecord(nullptr, 0));
    cudaGetLastError();
    show("nothing is left", cudaGetLastError());

    const int codes[] = {0,   1,   2,   3,   4,   9,   13,  17,  21,  35,  98,  100, 101,  200,
                         201, 209, 218, 300, 400, 500, 600, 700, 701, 702, 709, 710, 714,  715,
                         716, 717, 718, 719, 720, 801, 900, 901, 906, 908, 910, 999, 12345};
    for (int code : codes)
        printf("%d %s: %s\n", code, cudaGetErrorName((cudaError_t)code),
               cudaGetErrorString((cudaError_t)code));
    return 0;
}
