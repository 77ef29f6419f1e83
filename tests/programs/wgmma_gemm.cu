// wgmma_gemm.cu: a GEMM on warpgroup products, with descriptors written by hand.
// Two warpgroups of a block share a tile of B; each type, A from shared memory or from registers,
// K-major and MN-major, a ragged K loop over several products in flight. Whole-number inputs, so
// results are exact and are compared with the host's.
// flags: -gencode arch=compute_90a,code=[sm_90a,compute_90a]

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t status = (call);                                                               \
        if (status != cudaSuccess) {                                                               \
            printf("%s: %s\n", #call, cudaGetErrorString(status));                                 \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

// 128-byte swizzle, K-major: rows of 128 bytes, groups of 8 rows 1024 bytes apart.
__device__ uint64_t descriptor(const void *tile)
{
    uint64_t address = __cvta_generic_to_shared(tile);
    return (address & 0x3ffff) >> 4 | (uint64_t)1 << 16 | (uint64_t)(1024 >> 4) << 32 |
           (uint64_t)1 << 62;
}

__device__ void wgmma_fence()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ void wgmma_commit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int pending> __device__ void wgmma_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

#define D16(d)                                                                                     \
    "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),            \
        "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),    \
        "+f"(d[14]), "+f"(d[15])
#define I16(d)                                                                                     \
    "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]),            \
        "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]),    \
        "+r"(d[14]), "+r"(d[15])
#define REGISTERS                                                                                  \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}"

template <class T> struct product;

#define FLOAT_PRODUCT(type, k_of, shape, text, rest)                                               \
    template <> struct product<type> {                                                             \
        static constexpr int k = k_of;                                                             \
        typedef float sum;                                                                         \
        static __device__ void add(float (&d)[16], uint64_t a, uint64_t b, int keep)               \
        {                                                                                          \
            asm volatile("{ .reg .pred p; setp.ne.b32 p, %18, 0;\n"                                \
                         "wgmma.mma_async.sync.aligned." shape "." text " " REGISTERS              \
                         ", %16, %17, p, 1, 1" rest "; }"                                          \
                         : D16(d)                                                                  \
                         : "l"(a), "l"(b), "r"(keep));                                             \
        }                                                                                          \
    };
FLOAT_PRODUCT(__half, 16, "m64n32k16", "f32.f16.f16", ", 0, 0")
FLOAT_PRODUCT(__nv_bfloat16, 16, "m64n32k16", "f32.bf16.bf16", ", 0, 0")
FLOAT_PRODUCT(float, 8, "m64n32k8", "f32.tf32.tf32", "")
FLOAT_PRODUCT(__nv_fp8_e4m3, 32, "m64n32k32", "f32.e4m3.e4m3", "")
FLOAT_PRODUCT(__nv_fp8_e5m2, 32, "m64n32k32", "f32.e5m2.e5m2", "")

template <> struct product<int8_t> {
    static constexpr int k = 32;
    typedef int sum;
    static __device__ void add(int (&d)[16], uint64_t a, uint64_t b, int keep)
    {
        asm volatile("{ .reg .pred p; setp.ne.b32 p, %18, 0;\n"
                     "wgmma.mma_async.sync.aligned.m64n32k32.s32.s8.s8 " REGISTERS
                     ", %16, %17, p; }"
                     : I16(d)
                     : "l"(a), "l"(b), "r"(keep));
    }
};

constexpr int M = 128, N = 32; // of a block: two warpgroups, one above the other

// C[M][N] = A[M][K] * B[N][K]; K a multiple of 128 bytes. Two tiles of shared memory in turn.
template <class T>
__global__ void __launch_bounds__(256) gemm(const T *A, const T *B, typename product<T>::sum *C,
                                            int K)
{
    constexpr int WIDE = 128 / sizeof(T); // K of a tile: one row of the swizzle
    __shared__ alignas(1024) char a_tiles[2][M * 128];
    __shared__ alignas(1024) char b_tiles[2][N * 128];
    int thread = threadIdx.x, group = thread / 128;
    typename product<T>::sum d[16];
    for (int step = 0; step * WIDE < K; step++) {
        char *a = a_tiles[step % 2], *b = b_tiles[step % 2];
        for (int piece = thread; piece < (M + N) * 8; piece += blockDim.x) {
            int row = piece / 8, column = piece % 8;
            const T *from = row < M ? A + (size_t)row * K : B + (size_t)(row - M) * K;
            char *to = row < M ? a + row * 128 : b + (row - M) * 128;
            *(int4 *)(to + (column ^ row % 8) * 16) =
                *(const int4 *)((const char *)(from + step * WIDE) + column * 16);
        }
        asm volatile("fence.proxy.async;" ::: "memory");
        __syncthreads();
        wgmma_fence();
        for (int k = 0; k < 4; k++) // 32 bytes of each row at a time
            product<T>::add(d, descriptor(a + group * 64 * 128 + 32 * k), descriptor(b + 32 * k),
                            step + k > 0);
        wgmma_commit();
        wgmma_wait<0>();
        __syncthreads();
    }
    int warp = thread / 32 % 4, lane = thread % 32;
    for (int i = 0; i < 16; i++) {
        int row = group * 64 + warp * 16 + lane / 4 + i / 2 % 2 * 8;
        int column = i / 4 * 8 + lane % 4 * 2 + i % 2;
        C[row * N + column] = d[i];
    }
}

template <class T> void try_type(const char *name, int K)
{
    typedef typename product<T>::sum sum;
    std::vector<T> a(M * K), b(N * K);
    std::vector<int> x(M * K), y(N * K);
    uint32_t seed = 7;
    auto next = [&] { return (int)((seed = seed * 1664525u + 1013904223u) >> 24) % 9 - 4; };
    for (int i = 0; i < M * K; i++)
        a[i] = T((float)(x[i] = next()));
    for (int i = 0; i < N * K; i++)
        b[i] = T((float)(y[i] = next()));
    T *A, *B;
    sum *C;
    std::vector<sum> c(M * N);
    CHECK(cudaMalloc(&A, a.size() * sizeof(T)));
    CHECK(cudaMalloc(&B, b.size() * sizeof(T)));
    CHECK(cudaMalloc(&C, c.size() * sizeof(sum)));
    CHECK(cudaMemcpy(A, a.data(), a.size() * sizeof(T), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(B, b.data(), b.size() * sizeof(T), cudaMemcpyHostToDevice));
    gemm<T><<<1, 256>>>(A, B, C, K);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c.data(), C, c.size() * sizeof(sum), cudaMemcpyDeviceToHost));
    int wrong = 0;
    long total = 0;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            int right = 0;
            for (int k = 0; k < K; k++)
                right += x[i * K + k] * y[j * K + k];
            wrong += c[i * N + j] != (sum)right;
            total += (i + 3 * j) % 5 * (long)c[i * N + j];
        }
    printf("%-5s K %4d: %d wrong, sum %ld\n", name, K, wrong, total);
    CHECK(cudaFree(A));
    CHECK(cudaFree(B));
    CHECK(cudaFree(C));
}

int main()
{
    try_type<__half>("f16", 192);
    try_type<__nv_bfloat16>("bf16", 128);
    try_type<float>("tf32", 96);
    try_type<__nv_fp8_e4m3>("e4m3", 128);
    try_type<__nv_fp8_e5m2>("e5m2", 256);
    try_type<int8_t>("s8", 384);
    return 0;
}
