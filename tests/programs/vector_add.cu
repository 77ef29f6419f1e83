// Vector addition as in the first chapter of every book: allocate, copy, launch, copy back, check.
// Sizes that are and are not a multiple of the block, an empty tail block, and a block of one.

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t status = (call);                                                               \
        if (status != cudaSuccess) {                                                               \
            printf("%s:%d %s\n", #call, __LINE__, cudaGetErrorString(status));                     \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

__global__ void vector_add(const float *a, const float *b, float *c, int n)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

static void run(int n, int threads)
{
    std::vector<float> a(n), b(n), c(n, -1.0f);
    for (int i = 0; i < n; i++) {
        a[i] = (float)(i % 1000) * 0.5f;
        b[i] = (float)((i * 7) % 513) * 0.25f;
    }
    float *da, *db, *dc;
    size_t bytes = n * sizeof(float);
    CHECK(cudaMalloc((void **)&da, bytes));
    CHECK(cudaMalloc((void **)&db, bytes));
    CHECK(cudaMalloc((void **)&dc, bytes));
    CHECK(cudaMemcpy(da, a.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b.data(), bytes, cudaMemcpyHostToDevice));

    int blocks = (n + threads - 1) / threads;
    vector_add<<<blocks, threads>>>(da, db, dc, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c.data(), dc, bytes, cudaMemcpyDeviceToHost));

    int wrong = 0;
    double sum = 0;
    for (int i = 0; i < n; i++) {
        wrong += c[i] != a[i] + b[i];
        sum += c[i];
    }
    printf("n=%d blocks=%d threads=%d: c[0]=%g c[%d]=%g c[%d]=%g sum=%.2f wrong=%d\n", n, blocks,
           threads, c[0], n / 2, c[n / 2], n - 1, c[n - 1], sum, wrong);
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(dc));
}

int main()
{
    run(50000, 256);
    run(1 << 16, 1024);
    run(1, 32);
    run(33, 1);
    run(1000, 96);
    run(4097, 33);
    CHECK(cudaDeviceReset());
    printf("done\n");
    return 0;
}
