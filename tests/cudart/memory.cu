// memory.cu: allocations and copies of every shape, without kernels.
// cuda: 13.0
#include "check.h"
#include <cstdlib>
#include <cstring>
#include <vector>

static void attributes(const char *what, const void *p)
{
    cudaPointerAttributes a;
    MUST(cudaPointerGetAttributes(&a, p));
    printf("%s: type %d device %d same device pointer %d same host pointer %d\n", what, a.type,
           a.device, a.devicePointer == p, a.hostPointer == p);
}

static void kinds()
{
    int host;
    void *device, *pinned, *managed, *registered = aligned_alloc(4096, 8192);
    MUST(cudaMalloc(&device, 100));
    MUST(cudaMallocHost(&pinned, 100));
    MUST(cudaMallocManaged(&managed, 100));
    MUST(cudaHostRegister(registered, 8192, cudaHostRegisterDefault));
    attributes("stack", &host);
    attributes("device", device);
    attributes("pinned", pinned);
    attributes("managed", managed);
    attributes("registered", registered);
    unsigned flags;
    MUST(cudaHostGetFlags(&flags, pinned));
    printf("flags %u\n", flags);
    void *mapped;
    MUST(cudaHostGetDevicePointer(&mapped, pinned, 0));
    printf("mapped at the same address %d\n", mapped == pinned);
    size_t before, after, total;
    void *more;
    MUST(cudaMemGetInfo(&before, &total));
    MUST(cudaMalloc(&more, 64 << 20));
    MUST(cudaMemGetInfo(&after, &total));
    printf("free %d\n", after <= before && before <= total); // the simulator knows the host's too
    MUST(cudaFree(more));
    MUST(cudaFree(device));
    MUST(cudaFree(managed));
    MUST(cudaFreeHost(pinned));
    MUST(cudaHostUnregister(registered));
    free(registered);
}

static void rows()
{
    char *device;
    size_t pitch;
    MUST(cudaMallocPitch(&device, &pitch, 100, 10));
    printf("pitch %zu\n", pitch);
    MUST(cudaMemset2D(device, pitch, 7, 100, 10));
    std::vector<char> host(120 * 10, 1);
    MUST(cudaMemcpy2D(host.data(), 120, device, pitch, 100, 10, cudaMemcpyDeviceToHost));
    int sum = 0;
    for (char c : host)
        sum += c;
    printf("sum %d\n", sum);
    for (int i = 0; i < 1200; i++)
        host[i] = (char)(i % 50);
    MUST(cudaMemcpy2D(device, pitch, host.data() + 5, 120, 60, 10, cudaMemcpyHostToDevice));
    std::vector<char> back(100 * 10);
    MUST(cudaMemcpy2D(back.data(), 100, device, pitch, 100, 10, cudaMemcpyDefault));
    sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += back[i] * (i % 7 + 1);
    printf("sum %d\n", sum);
    MUST(cudaFree(device));
}

static void boxes()
{
    cudaPitchedPtr box;
    MUST(cudaMalloc3D(&box, make_cudaExtent(20, 5, 3)));
    printf("box pitch %zu %zu %zu\n", box.pitch, box.xsize, box.ysize);
    MUST(cudaMemset3D(box, 1, make_cudaExtent(20, 5, 3)));
    MUST(cudaMemset3D(box, 2, make_cudaExtent(10, 2, 2)));
    std::vector<char> host(20 * 5 * 3);
    for (size_t i = 0; i < host.size(); i++)
        host[i] = (char)i;
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(host.data(), 20, 20, 5);
    copy.dstPtr = box;
    copy.dstPos = make_cudaPos(3, 1, 1);
    copy.extent = make_cudaExtent(4, 2, 2);
    copy.kind = cudaMemcpyHostToDevice;
    MUST(cudaMemcpy3D(&copy));
    std::vector<char> back(20 * 5 * 3);
    copy = {};
    copy.srcPtr = box;
    copy.dstPtr = make_cudaPitchedPtr(back.data(), 20, 20, 5);
    copy.extent = make_cudaExtent(20, 5, 3);
    copy.kind = cudaMemcpyDeviceToHost;
    MUST(cudaMemcpy3D(&copy));
    for (int z = 0; z < 3; z++)
        for (int y = 0; y < 5; y++) {
            for (int x = 0; x < 12; x++)
                printf("%3d", back[(z * 5 + y) * 20 + x]);
            printf("\n");
        }
    MUST(cudaFree(box.ptr));
}

static void pools()
{
    cudaMemPool_t pool;
    MUST(cudaDeviceGetDefaultMemPool(&pool, 0));
    cudaStream_t stream;
    MUST(cudaStreamCreate(&stream));
    char *p;
    MUST(cudaMallocAsync(&p, 1000, stream));
    MUST(cudaMemsetAsync(p, 3, 1000, stream));
    char last;
    MUST(cudaMemcpyAsync(&last, p + 999, 1, cudaMemcpyDeviceToHost, stream));
    MUST(cudaFreeAsync(p, stream));
    MUST(cudaStreamSynchronize(stream));
    printf("pool %d\n", last);
    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.location = {cudaMemLocationTypeDevice, 0};
    MUST(cudaMemPoolCreate(&pool, &props));
    MUST(cudaMallocFromPoolAsync(&p, 100, pool, stream));
    unsigned long long used = 0;
    MUST(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    printf("used %d\n", used >= 100);
    MUST(cudaFreeAsync(p, stream));
    MUST(cudaStreamSynchronize(stream));
    MUST(cudaMemPoolDestroy(pool));
    MUST(cudaStreamDestroy(stream));
}

static void managed()
{
    int *p, read_mostly = 0;
    MUST(cudaMallocManaged(&p, 4096));
    p[5] = 77;
    cudaMemLocation here = {cudaMemLocationTypeDevice, 0};
    MUST(cudaMemPrefetchAsync(p, 4096, here, 0, 0));
    MUST(cudaMemAdvise(p, 4096, cudaMemAdviseSetReadMostly, here));
    MUST(cudaMemRangeGetAttribute(&read_mostly, 4, cudaMemRangeAttributeReadMostly, p, 4096));
    MUST(cudaDeviceSynchronize());
    printf("managed %d %d\n", p[5], read_mostly);
    MUST(cudaFree(p));
}

static void batches()
{
    int *device, host[4] = {1, 2, 3, 4}, back[4];
    MUST(cudaMalloc(&device, sizeof host));
    cudaStream_t stream;
    MUST(cudaStreamCreate(&stream));
    void *to[] = {device, device + 2};
    const void *from[] = {host + 2, host};
    size_t sizes[] = {8, 8};
    cudaMemcpyAttributes how = {};
    how.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    size_t first = 0;
    MUST(cudaMemcpyBatchAsync(to, from, sizes, 2, &how, &first, 1, stream));
    MUST(cudaMemcpyAsync(back, device, sizeof back, cudaMemcpyDeviceToHost, stream));
    MUST(cudaStreamSynchronize(stream));
    printf("batch %d %d %d %d\n", back[0], back[1], back[2], back[3]);
    MUST(cudaFree(device));
}

int main()
{
    kinds();
    rows();
    boxes();
    pools();
    managed();
    batches();
    printf("last %d\n", cudaGetLastError());
}
