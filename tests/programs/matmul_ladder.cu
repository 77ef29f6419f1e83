// A matrix multiply ladder: naive, coalesced, tiled through shared memory, register-tiled with
// float4 loads, and a template over the tile. All against one CPU product; entries are small
// integers, so that every kernel must be exact whatever its order of summation.

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t status = (call);                                                               \
        if (status != cudaSuccess) {                                                               \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(status));                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

const int N = 128; // multiple of 64

__global__ void naive(const float *A, const float *B, float *C, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n || column >= n)
        return;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += A[row * n + k] * B[k * n + column];
    C[row * n + column] = sum;
}

__global__ void coalesced(const float *A, const float *B, float *C, int n)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || column >= n)
        return;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += A[row * n + k] * B[k * n + column];
    C[row * n + column] = sum;
}

template <int TILE> __global__ void tiled(const float *A, const float *B, float *C, int n)
{
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, column = blockIdx.x * TILE + tx;
    float sum = 0;
    for (int tile = 0; tile < (n + TILE - 1) / TILE; tile++) {
        int ka = tile * TILE + tx, kb = tile * TILE + ty;
        As[ty][tx] = row < n && ka < n ? A[row * n + ka] : 0.0f;
        Bs[ty][tx] = kb < n && column < n ? B[kb * n + column] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; k++)
            sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < n && column < n)
        C[row * n + column] = sum;
}

// 64 x 64 tile a block, 4 x 4 results a thread, 8 deep.
__global__ void __launch_bounds__(256)
    register_tiled(const float *A, const float *B, float *C, int n)
{
    const int BM = 64, BN = 64, BK = 8, TM = 4, TN = 4;
    __shared__ float As[BK][BM];
    __shared__ float Bs[BK][BN];
    int thread_row = threadIdx.x / (BN / TN), thread_column = threadIdx.x % (BN / TN);
    A += blockIdx.y * BM * n;
    B += blockIdx.x * BN;
    C += blockIdx.y * BM * n + blockIdx.x * BN;
    float results[TM][TN] = {};
    float a[TM], b[TN];
    for (int k0 = 0; k0 < n; k0 += BK) {
        if (threadIdx.x < 128) {
            int row = threadIdx.x / 2, column = threadIdx.x % 2 * 4;
            float4 v = *(const float4 *)&A[row * n + column];
            As[column + 0][row] = v.x;
            As[column + 1][row] = v.y;
            As[column + 2][row] = v.z;
            As[column + 3][row] = v.w;
        } else {
            int t = threadIdx.x - 128, row = t / 16, column = t % 16 * 4;
            *(float4 *)&Bs[row][column] = *(const float4 *)&B[row * n + column];
        }
        __syncthreads();
        A += BK;
        B += BK * n;
        for (int k = 0; k < BK; k++) {
            for (int i = 0; i < TM; i++)
                a[i] = As[k][thread_row * TM + i];
            for (int i = 0; i < TN; i++)
                b[i] = Bs[k][thread_column * TN + i];
            for (int i = 0; i < TM; i++)
                for (int j = 0; j < TN; j++)
                    results[i][j] += a[i] * b[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < TM; i++) {
        float4 v = {results[i][0], results[i][1], results[i][2], results[i][3]};
        *(float4 *)&C[(thread_row * TM + i) * n + thread_column * TN] = v;
    }
}

static std::vector<float> A, B, expected;
static float *dA, *dB, *dC;

template <class Kernel> void run(const char *name, Kernel kernel, dim3 grid, dim3 block, int n)
{
    CHECK(cudaMemset(dC, 0, n * n * sizeof(float)));
    kernel<<<grid, block>>>(dA, dB, dC, n);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    std::vector<float> C(n * n);
    CHECK(cudaMemcpy(C.data(), dC, n * n * sizeof(float), cudaMemcpyDeviceToHost));
    int wrong = 0;
    double sum = 0;
    for (int i = 0; i < n * n; i++) {
        wrong += C[i] != expected[i];
        sum += C[i] * (i % 7 + 1);
    }
    printf("%-16s n=%d C[0]=%g C[mid]=%g C[last]=%g checksum=%.0f wrong=%d\n", name, n, C[0],
           C[n * n / 2 + n / 3], C[n * n - 1], sum, wrong);
}

static void prepare(int n)
{
    A.resize(n * n);
    B.resize(n * n);
    expected.assign(n * n, 0);
    for (int i = 0; i < n * n; i++) {
        A[i] = (float)(i * 13 % 11 - 5);
        B[i] = (float)(i * 7 % 9 - 4);
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                expected[i * n + j] += A[i * n + k] * B[k * n + j];
    CHECK(cudaMemcpy(dA, A.data(), n * n * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dB, B.data(), n * n * sizeof(float), cudaMemcpyHostToDevice));
}

int main()
{
    CHECK(cudaMalloc(&dA, N * N * sizeof(float)));
    CHECK(cudaMalloc(&dB, N * N * sizeof(float)));
    CHECK(cudaMalloc(&dC, N * N * sizeof(float)));
    prepare(N);
    run("naive", naive, dim3(N / 16, N / 16), dim3(16, 16), N);
    run("coalesced", coalesced, dim3(N / 32, N / 8), dim3(32, 8), N);
    run("tiled<8>", tiled<8>, dim3(N / 8, N / 8), dim3(8, 8), N);
    run("tiled<16>", tiled<16>, dim3(N / 16, N / 16), dim3(16, 16), N);
    run("tiled<32>", tiled<32>, dim3(N / 32, N / 32), dim3(32, 32), N);
    run("register tiled", register_tiled, dim3(N / 64, N / 64), dim3(256), N);
    const int odd = 77;
    prepare(odd);
    run("naive", naive, dim3(5, 5), dim3(16, 16), odd);
    run("tiled<16>", tiled<16>, dim3(5, 5), dim3(16, 16), odd);
    return 0;
}
