/*
 * gemm_streams.cu: a row of small matrix products C[i] = A[i] B, with A[i] copied in and C[i] copied
 * out: in one stream, over two to four, and as a graph. One product has too few blocks for a whole
 * GPU; those of different streams run side by side on its SMs.
 *   lockstep run examples/gemm_streams.cu
 *   lockstep profile examples/gemm_streams.cu
 *   nvcc -O3 examples/gemm_streams.cu && ./a.out 512 32     32 products of 512 x 512
 */
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != cudaSuccess) {                                                                \
            printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));                  \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define STREAMS 4
#define TILE 32
#define ROWS 4 /* of C, that a thread computes */

/* C = A B, all [n][n] row by row, n a multiple of TILE; a block of TILE x TILE / ROWS threads. */
__global__ void gemm(const float *a, const float *b, float *c, int n)
{
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * TILE + x, row = blockIdx.y * TILE;
    float sum[ROWS] = {0};
    for (int k = 0; k < n; k += TILE) {
        for (int r = y; r < TILE; r += TILE / ROWS) {
            tile_a[r][x] = a[(row + r) * n + k + x];
            tile_b[r][x] = b[(k + r) * n + column];
        }
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            for (int r = 0; r < ROWS; r++)
                sum[r] += tile_a[y + r * (TILE / ROWS)][i] * tile_b[i][x];
        __syncthreads();
    }
    for (int r = 0; r < ROWS; r++)
        c[(row + y + r * (TILE / ROWS)) * n + column] = sum[r];
}

struct work {
    float *a, *c;                            /* [products][n][n], pinned */
    float *device_a[STREAMS], *device_c[STREAMS], *b; /* [n][n] each, on the device */
    cudaStream_t streams[STREAMS];
    cudaEvent_t forked, joined[STREAMS];
    int n, products;
};

static void put_products(struct work *w, int streams)
{
    CHECK(cudaEventRecord(w->forked, w->streams[0]));
    for (int s = 1; s < streams; s++)
        CHECK(cudaStreamWaitEvent(w->streams[s], w->forked, 0));
    for (int i = 0; i < w->products; i++) {
        int s = i % streams;
        size_t size = (size_t)w->n * w->n, bytes = size * sizeof(float);
        CHECK(cudaMemcpyAsync(w->device_a[s], w->a + i * size, bytes, cudaMemcpyHostToDevice,
                              w->streams[s]));
        gemm<<<dim3(w->n / TILE, w->n / TILE), dim3(TILE, TILE / ROWS), 0, w->streams[s]>>>(
            w->device_a[s], w->b, w->device_c[s], w->n);
        CHECK(cudaMemcpyAsync(w->c + i * size, w->device_c[s], bytes, cudaMemcpyDeviceToHost,
                              w->streams[s]));
    }
    for (int s = 1; s < streams; s++) {
        CHECK(cudaEventRecord(w->joined[s], w->streams[s]));
        CHECK(cudaStreamWaitEvent(w->streams[0], w->joined[s], 0));
    }
}

/* Milliseconds between events around body; the second time, when everything is warm. */
template <typename Body> static float time_of(cudaStream_t stream, Body body)
{
    cudaEvent_t begin, end;
    float ms = 0;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    for (int turn = 0; turn < 2; turn++) {
        CHECK(cudaEventRecord(begin, stream));
        body();
        CHECK(cudaEventRecord(end, stream));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&ms, begin, end));
    }
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    return ms;
}

/* Small whole numbers, so that every sum is exact in any order. */
static float value_a(int product, int row, int column)
{
    return (float)((product * 5 + row * 3 + column) % 7 - 3);
}

static float value_b(int row, int column)
{
    return (float)((row + column * 2) % 5 - 2);
}

static int count_wrong(struct work *w)
{
    int wrong = 0;
    for (int p = 0; p < w->products; p++)
        for (int row = p % 4; row < w->n; row += 4) /* a quarter of the rows */
            for (int column = 0; column < w->n; column++) {
                float sum = 0;
                for (int k = 0; k < w->n; k++)
                    sum += value_a(p, row, k) * value_b(k, column);
                wrong += w->c[((size_t)p * w->n + row) * w->n + column] != sum;
            }
    for (size_t i = 0; i < (size_t)w->products * w->n * w->n; i++)
        w->c[i] = 1e30f; /* so that what the next run leaves out is seen */
    return wrong;
}

int main(int argc, char **argv)
{
    struct work w = {0};
    int wrong = 0;
    w.n = argc > 1 ? atoi(argv[1]) : 128;
    w.products = argc > 2 ? atoi(argv[2]) : 8;
    if (w.n < TILE || w.n % TILE || w.products < 1) {
        printf("usage: %s [N, a multiple of %d] [PRODUCTS]\n", argv[0], TILE);
        return 2;
    }
    size_t size = (size_t)w.n * w.n, bytes = size * sizeof(float);
    CHECK(cudaMallocHost(&w.a, bytes * w.products));
    CHECK(cudaMallocHost(&w.c, bytes * w.products));
    CHECK(cudaMalloc(&w.b, bytes));
    for (int row = 0; row < w.n; row++)
        for (int column = 0; column < w.n; column++)
            w.c[row * w.n + column] = value_b(row, column);
    CHECK(cudaMemcpy(w.b, w.c, bytes, cudaMemcpyHostToDevice));
    for (size_t i = 0; i < size * w.products; i++)
        w.a[i] = value_a((int)(i / size), (int)(i % size) / w.n, (int)(i % w.n));
    CHECK(cudaEventCreateWithFlags(&w.forked, cudaEventDisableTiming));
    for (int s = 0; s < STREAMS; s++) {
        CHECK(cudaStreamCreateWithFlags(&w.streams[s], cudaStreamNonBlocking));
        CHECK(cudaEventCreateWithFlags(&w.joined[s], cudaEventDisableTiming));
        CHECK(cudaMalloc(&w.device_a[s], bytes));
        CHECK(cudaMalloc(&w.device_c[s], bytes));
    }

    float one = 0;
    printf("%d products of %d x %d, %d blocks each\n", w.products, w.n, w.n,
           w.n / TILE * (w.n / TILE));
    for (int streams = 1; streams <= STREAMS; streams++) {
        float ms = time_of(w.streams[0], [&] { put_products(&w, streams); });
        one = streams == 1 ? ms : one;
        printf("%d stream%s  %8.3f ms  %.2fx\n", streams, streams == 1 ? " " : "s", ms, one / ms);
        wrong += count_wrong(&w);
    }
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(w.streams[0], cudaStreamCaptureModeGlobal));
    put_products(&w, STREAMS);
    CHECK(cudaStreamEndCapture(w.streams[0], &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    float ms = time_of(w.streams[0], [&] { CHECK(cudaGraphLaunch(exec, w.streams[0])); });
    printf("as graph   %8.3f ms  %.2fx\n", ms, one / ms);
    wrong += count_wrong(&w);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));

    printf("%d elements are wrong\n", wrong);
    for (int s = 0; s < STREAMS; s++) {
        CHECK(cudaFree(w.device_a[s]));
        CHECK(cudaFree(w.device_c[s]));
        CHECK(cudaEventDestroy(w.joined[s]));
        CHECK(cudaStreamDestroy(w.streams[s]));
    }
    CHECK(cudaEventDestroy(w.forked));
    CHECK(cudaFree(w.b));
    CHECK(cudaFreeHost(w.a));
    CHECK(cudaFreeHost(w.c));
    return wrong != 0;
}
