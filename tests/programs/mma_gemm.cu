// A GEMM the way fast ones are written: inline PTX mma.sync.m16n8k16 with ldmatrix (plain and
// transposed), a cp.async pipeline of several stages with commit and wait groups, swizzled shared
// memory, and double-buffered fragments. Half in, float out; integer values, so exact.

#include <cstdint>
#include <cstdio>
#include <cuda_fp16.h>
#include <vector>

const int BM = 64, BN = 64, BK = 32, STAGES = 3; // 4 warps, each 32 x 32

__device__ __forceinline__ void copy_async_16(void *shared, const void *global, bool valid)
{
    uint32_t to = (uint32_t)__cvta_generic_to_shared(shared);
    int bytes = valid ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(to), "l"(global),
                 "r"(bytes));
}

__device__ __forceinline__ void commit()
{
    asm volatile("cp.async.commit_group;\n" ::);
}

template <int N> __device__ __forceinline__ void wait()
{
    asm volatile("cp.async.wait_group %0;\n" ::"n"(N));
}

__device__ __forceinline__ void load_matrix_x4(uint32_t (&r)[4], const void *p)
{
    uint32_t at = (uint32_t)__cvta_generic_to_shared(p);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\n"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at));
}

__device__ __forceinline__ void load_matrix_x2_trans(uint32_t (&r)[2], const void *p)
{
    uint32_t at = (uint32_t)__cvta_generic_to_shared(p);
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];\n"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(at));
}

__device__ __forceinline__ void mma(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// A: [M][K], B: [K][N], C: [M][N], all row-major. M, N any; K a multiple of 8; N of 8.
__global__ void __launch_bounds__(128)
    gemm(const __half *A, const __half *B, float *C, int M, int N, int K)
{
    __shared__ __align__(128) __half As[STAGES][BM][BK];
    __shared__ __align__(128) __half Bs[STAGES][BK][BN];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    int row0 = blockIdx.y * BM, column0 = blockIdx.x * BN;
    int warp_row = warp / 2 * 32, warp_column = warp % 2 * 32;

    auto load_stage = [&](int stage, int k0) {
        for (int i = t; i < BM * BK / 8; i += 128) {
            int r = i / (BK / 8), c = i % (BK / 8);
            bool valid = row0 + r < M && k0 + c * 8 < K;
            const __half *from = valid ? A + (size_t)(row0 + r) * K + k0 + c * 8 : A;
            copy_async_16(&As[stage][r][(c ^ (r >> 1 & 3)) * 8], from, valid);
        }
        for (int i = t; i < BK * BN / 8; i += 128) {
            int r = i / (BN / 8), c = i % (BN / 8);
            bool valid = k0 + r < K && column0 + c * 8 < N;
            const __half *from = valid ? B + (size_t)(k0 + r) * N + column0 + c * 8 : B;
            copy_async_16(&Bs[stage][r][(c ^ (r & 7)) * 8], from, valid);
        }
    };

    float sums[2][4][4] = {};
    int tiles = (K + BK - 1) / BK;
    for (int s = 0; s < STAGES - 1; s++) {
        if (s < tiles)
            load_stage(s, s * BK);
        commit();
    }
    for (int tile = 0; tile < tiles; tile++) {
        wait<STAGES - 2>();
        __syncthreads();
        int ahead = tile + STAGES - 1;
        if (ahead < tiles)
            load_stage(ahead % STAGES, ahead * BK);
        commit();
        int stage = tile % STAGES;
        for (int k = 0; k < BK; k += 16) {
            uint32_t a[2][4], b[4][2];
            for (int i = 0; i < 2; i++) {
                int r = warp_row + i * 16 + lane % 16, c = k / 8 + lane / 16;
                load_matrix_x4(a[i], &As[stage][r][(c ^ (r >> 1 & 3)) * 8]);
            }
            for (int j = 0; j < 4; j++) {
                int r = k + lane % 16, c = (warp_column + j * 8) / 8;
                load_matrix_x2_trans(b[j], &Bs[stage][r][(c ^ (r & 7)) * 8]);
            }
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 4; j++)
                    mma(sums[i][j], a[i], b[j]);
        }
    }
    wait<0>();
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++)
            for (int half = 0; half < 2; half++) {
                int r = row0 + warp_row + i * 16 + lane / 4 + half * 8;
                int c = column0 + warp_column + j * 8 + lane % 4 * 2;
                if (r < M && c < N) {
                    float2 pair = {sums[i][j][half * 2], sums[i][j][half * 2 + 1]};
                    *(float2 *)&C[(size_t)r * N + c] = pair;
                }
            }
}

static void run(int M, int N, int K)
{
    std::vector<__half> a(M * K), b(K * N);
    std::vector<float> c(M * N), want(M * N, 0.0f);
    auto va = [&](int i) { return (float)(i * 31 % 17 - 8); };
    auto vb = [&](int i) { return (float)(i * 23 % 13 - 6); };
    for (int i = 0; i < M * K; i++)
        a[i] = __float2half(va(i));
    for (int i = 0; i < K * N; i++)
        b[i] = __float2half(vb(i));
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++)
                want[i * N + j] += va(i * K + k) * vb(k * N + j);
    __half *da, *db;
    float *dc;
    cudaMalloc(&da, a.size() * 2);
    cudaMalloc(&db, b.size() * 2);
    cudaMalloc(&dc, c.size() * 4);
    cudaMemcpy(da, a.data(), a.size() * 2, cudaMemcpyHostToDevice);
    cudaMemcpy(db, b.data(), b.size() * 2, cudaMemcpyHostToDevice);
    gemm<<<dim3((N + BN - 1) / BN, (M + BM - 1) / BM), 128>>>(da, db, dc, M, N, K);
    cudaMemcpy(c.data(), dc, c.size() * 4, cudaMemcpyDeviceToHost);
    int wrong = 0;
    double sum = 0;
    for (int i = 0; i < M * N; i++) {
        wrong += c[i] != want[i];
        sum += (double)c[i] * (i % 11);
    }
    printf("%dx%dx%d: c[0]=%g c[n+1]=%g c[last]=%g checksum %.0f wrong %d %s\n", M, N, K, c[0],
           c[N + 1], c.back(), sum, wrong, cudaGetErrorString(cudaGetLastError()));
    cudaFree(da);
    cudaFree(db);
    cudaFree(dc);
}

int main()
{
    run(64, 64, 32);
    run(128, 128, 128);
    run(128, 192, 256);
    run(100, 72, 88);
    run(16, 8, 16);
    return 0;
}
