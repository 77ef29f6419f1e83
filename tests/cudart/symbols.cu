// symbols.cu: device, constant and managed variables from the host, used before main and after.
#include "check.h"

__device__ int plain = 11;
__device__ int table[4] = {1, 2, 3, 4};
__constant__ float factors[3] = {0.5f, 1.5f, 2.5f};
__managed__ int shared_with_host = 5;
__managed__ double pair[2] = {1.25, 2.5};
static __device__ int hidden = 3;
namespace space
{
__device__ int inside = 21;
}

__global__ void use(int *out)
{
    out[0] = plain + hidden + space::inside;
    out[1] = table[0] + table[3];
    out[2] = (int)(factors[0] + factors[2]);
    out[3] = shared_with_host;
    shared_with_host += 100;
    pair[1] *= 2;
    plain = 1000;
}

// Runs before main, perhaps before the fatbin is registered from another unit.
struct early {
    int value = -1;
    early()
    {
        shared_with_host += 1;
    }
} early_object;

int main()
{
    printf("early %d\n", shared_with_host);
    int *out, host[4], value;
    MUST(cudaMalloc(&out, sizeof host));
    use<<<1, 1>>>(out);
    MUST(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d %d %d %d\n", host[0], host[1], host[2], host[3]);
    printf("managed %d %g %g\n", shared_with_host, pair[0], pair[1]);
    MUST(cudaMemcpyFromSymbol(&value, plain, sizeof value));
    printf("plain %d\n", value);
    int two[2] = {30, 40};
    MUST(cudaMemcpyToSymbol(table, two, sizeof two, 2 * sizeof(int)));
    float changed = 7.5f;
    MUST(cudaMemcpyToSymbolAsync(factors, &changed, sizeof changed, 8, cudaMemcpyHostToDevice, 0));
    shared_with_host = 9;
    use<<<1, 1>>>(out);
    MUST(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d %d %d %d\n", host[0], host[1], host[2], host[3]);
    void *address;
    size_t size;
    MUST(cudaGetSymbolAddress(&address, shared_with_host));
    printf("managed address %d\n", address == &shared_with_host);
    MUST(cudaGetSymbolSize(&size, table));
    printf("size %zu\n", size);
    MUST(cudaGetSymbolAddress(&address, table));
    MUST(cudaMemcpy(&value, (int *)address + 3, 4, cudaMemcpyDefault));
    printf("table[3] %d\n", value);
    MUST(cudaDeviceSynchronize());
    MUST(cudaDeviceReset());
    MUST(cudaMemcpyFromSymbol(&value, plain, sizeof value));
    printf("after a reset plain is %d\n", value);
    MUST(cudaMalloc(&out, sizeof host));
    use<<<1, 1>>>(out);
    MUST(cudaMemcpy(host, out, 3 * sizeof(int), cudaMemcpyDeviceToHost));
    printf("%d %d %d\n", host[0], host[1], host[2]);
}
