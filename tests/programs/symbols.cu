// Device and constant symbols: initialised and not, arrays, structs, pointers between them,
// addresses and sizes by symbol, partial copies with offsets, static in functions, variable
// templates, and kernels that read constants by index that differs between lanes.

#include <cstdio>

struct settings {
    int width, height;
    float scale;
    char name[12];
};

__constant__ settings config = {4, 3, 1.5f, "default"};
__constant__ int table[8] = {10, 11, 12, 13, 14, 15, 16, 17};
__constant__ double one_third = 1.0 / 3.0;
__device__ int counter = 7;
__device__ float matrix[4][4] = {{1, 2}, {3}, {}, {0, 0, 0, 9}};
__device__ int *pointer_to_counter = &counter;
__device__ const char *words[] = {"alpha", "beta", "gamma"};
static __device__ unsigned char hidden[5] = {1, 2, 3, 4, 5};
__device__ long long wide = 0x123456789abll;

template <int N> __device__ int holder = N * 100;

__device__ int next_id()
{
    static int id = 50;
    return atomicAdd(&id, 1);
}

__global__ void read_all(int *out, double *real)
{
    int t = threadIdx.x;
    out[t] = table[7 - t] + config.width * 1000 + config.name[t];
    if (t == 0) {
        real[0] = one_third;
        real[1] = config.scale * matrix[3][3];
        *pointer_to_counter += 1;
        out[8] = counter;
        out[9] = words[2][4] * 1000 + words[0][1];
        out[10] = hidden[4];
        out[11] = (int)(wide >> 32);
        out[12] = holder<3> + holder<5>;
        out[13] = next_id();
        out[14] = next_id();
        matrix[2][1] = 42;
        hidden[1] = 99;
    }
}

int main()
{
    int *out, host[16];
    double *real, host_real[2];
    cudaMalloc(&out, sizeof host);
    cudaMalloc(&real, sizeof host_real);
    for (int round = 0; round < 2; round++) {
        read_all<<<1, 8>>>(out, real);
        cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
        cudaMemcpy(host_real, real, sizeof host_real, cudaMemcpyDeviceToHost);
        printf("round %d:", round);
        for (int i = 0; i < 15; i++)
            printf(" %d", host[i]);
        printf(" %.17g %g\n", host_real[0], host_real[1]);
        settings changed = {9, 8, -2.0f, "changed"};
        cudaMemcpyToSymbol(config, &changed, sizeof changed);
        int part[2] = {100, 200};
        cudaMemcpyToSymbol(table, part, sizeof part, 3 * sizeof(int));
    }
    float rows[4][4];
    cudaMemcpyFromSymbol(rows, matrix, sizeof rows);
    printf("matrix: %g %g %g %g\n", rows[0][1], rows[1][0], rows[2][1], rows[3][3]);
    unsigned char two[2];
    cudaMemcpyFromSymbol(two, hidden, 2, 1);
    printf("hidden: %d %d\n", two[0], two[1]);
    size_t size;
    void *address;
    printf("size of matrix %s", cudaGetErrorName(cudaGetSymbolSize(&size, matrix)));
    printf(" %zu\n", size);
    cudaGetSymbolSize(&size, config);
    printf("size of config %zu\n", size);
    cudaGetSymbolAddress(&address, matrix);
    float value = 5;
    cudaMemcpy((float *)address + 15, &value, 4, cudaMemcpyHostToDevice);
    cudaMemcpyFromSymbol(&value, matrix, 4, 15 * 4);
    printf("by address: %g\n", value);
    cudaMemset(address, 0, 16);
    cudaMemcpyFromSymbol(rows, matrix, sizeof rows);
    printf("after memset: %g %g\n", rows[0][0], rows[1][0]);
    int not_a_symbol;
    printf("no symbol: %s\n", cudaGetErrorName(cudaMemcpyToSymbol(&not_a_symbol, &value, 4)));
    printf("too long: %s\n", cudaGetErrorName(cudaMemcpyFromSymbol(rows, counter, 8)));
    return 0;
}
