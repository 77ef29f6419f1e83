// Stream-ordered allocation: cudaMallocAsync and cudaFreeAsync, the default pool and its threshold
// and counters, a second pool, cudaMallocFromPoolAsync, reuse after a free in the stream,
// out of memory, cudaMemGetInfo in proportion, memory set and copied in all directions.

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t status = (call);                                                               \
        if (status != cudaSuccess) {                                                               \
            printf("line %d: %s\n", __LINE__, cudaGetErrorString(status));                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

__global__ void fill(int *p, int n, int value)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        p[i] = value + i;
}

__global__ void total(const int *p, int n, int *out)
{
    int sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += p[i];
    atomicAdd(out, sum);
}

static void pools(cudaStream_t stream)
{
    cudaMemPool_t pool, mine;
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    unsigned long long threshold = 1 << 20, got = 0;
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &got));
    printf("threshold %llu\n", got);
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &got));
    printf("used now %llu\n", got);
    CHECK(cudaMemPoolTrimTo(pool, 0));

    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = 0;
    CHECK(cudaMemPoolCreate(&mine, &properties));
    int *a, *b;
    CHECK(cudaMallocFromPoolAsync(&a, 4096, mine, stream));
    CHECK(cudaMallocFromPoolAsync(&b, 4096, mine, stream));
    fill<<<1, 64, 0, stream>>>(a, 1024, 7);
    CHECK(cudaMemcpyAsync(b, a, 4096, cudaMemcpyDeviceToDevice, stream));
    static int back[1024];
    CHECK(cudaMemcpyAsync(back, b, 4096, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    printf("own pool: %d %d, apart: %s\n", back[0], back[1023], a != b ? "yes" : "no");
    CHECK(cudaFreeAsync(a, stream));
    CHECK(cudaFreeAsync(b, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemPoolDestroy(mine));
}

static void limits(cudaStream_t stream)
{
    // Too much is an error, not a crash, and leaves the device usable.
    void *huge = nullptr;
    cudaError_t status = cudaMalloc(&huge, (size_t)1 << 50);
    printf("2^50 bytes: %s, pointer untouched: %s\n", cudaGetErrorName(status),
           huge ? "no" : "yes");
    printf("kept as last error: %s\n", cudaGetErrorName(cudaGetLastError()));
    status = cudaMallocAsync(&huge, (size_t)1 << 50, stream);
    printf("the same, async: %s\n", cudaGetErrorName(status));
    cudaGetLastError();
    size_t free_before, free_after, all;
    CHECK(cudaMemGetInfo(&free_before, &all));
    void *block;
    CHECK(cudaMalloc(&block, 256 << 20));
    CHECK(cudaMemGetInfo(&free_after, &all));
    printf("256 MB taken: %s, free below total: %s\n",
           free_before - free_after >= 256 << 20 ? "yes" : "no", free_after < all ? "yes" : "no");
    CHECK(cudaFree(block));
    printf("free of null: %s\n", cudaGetErrorName(cudaFree(nullptr)));
    status = cudaFree((void *)0x1234567);
    printf("free of nonsense: %s\n", cudaGetErrorName(status));
    cudaGetLastError();
}

static void copies()
{
    // Offsets, odd sizes, overlapping nothing.
    char *bytes;
    char text[32] = "the quick brown fox jumps over", result[32] = "";
    CHECK(cudaMalloc(&bytes, 64));
    CHECK(cudaMemset(bytes, '.', 64));
    CHECK(cudaMemcpy(bytes + 3, text, 19, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(bytes + 33, bytes + 7, 11, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy(result, bytes + 1, 24, cudaMemcpyDefault));
    printf("[%.24s] ", result);
    CHECK(cudaMemcpy(result, bytes + 30, 20, cudaMemcpyDeviceToHost));
    printf("[%.20s]\n", result);
    CHECK(cudaMemcpy(result, text, 5, cudaMemcpyHostToHost));
    printf("[%.5s]\n", result);
}

int main()
{
    int supported = 0;
    CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
    printf("pools: %d\n", supported);
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    int *out, host = 0;
    CHECK(cudaMalloc(&out, 4));
    for (int round = 0; round < 3; round++) {
        int *p, n = 1000 << round;
        CHECK(cudaMemsetAsync(out, 0, 4, stream));
        CHECK(cudaMallocAsync(&p, n * 4, stream));
        fill<<<1, 128, 0, stream>>>(p, n, round);
        total<<<1, 128, 0, stream>>>(p, n, out);
        CHECK(cudaFreeAsync(p, stream));
        CHECK(cudaMemcpyAsync(&host, out, 4, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaStreamSynchronize(stream));
        printf("round %d: %d\n", round, host);
    }

    pools(stream);
    limits(stream);
    copies();
    return 0;
}
