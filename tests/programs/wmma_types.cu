// Tensor cores through mma.h: wmma fragments of half (three shapes, both accumulators, both
// layouts), bfloat16, tf32, int8, uint8 and double, with fill, element-wise work on fragments, load
// and store. Integer-valued matrices: every result is exact.

#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <vector>

using namespace nvcuda;

template <class T> __host__ T to(int value)
{
    return (T)value;
}
template <> __host__ __half to(int value)
{
    return __float2half((float)value);
}
template <> __host__ __nv_bfloat16 to(int value)
{
    return __float2bfloat16((float)value);
}
template <class T> __host__ double from(T value)
{
    return (double)value;
}
template <> __host__ double from(__half value)
{
    return __half2float(value);
}

template <int M, int N, int K, class In, class Fragment, class Out, class LA, class LB>
__global__ void product(const In *a, const In *b, Out *c, int depth, bool c_row)
{
    wmma::fragment<wmma::matrix_a, M, N, K, Fragment, LA> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, Fragment, LB> fb;
    wmma::fragment<wmma::accumulator, M, N, K, Out> fc;
    wmma::fill_fragment(fc, (Out)0);
    const bool a_row = std::is_same<LA, wmma::row_major>::value;
    const bool b_row = std::is_same<LB, wmma::row_major>::value;
    for (int k = 0; k < depth; k += K) {
        wmma::load_matrix_sync(fa, a_row ? a + k : a + k * M, a_row ? depth : M);
        wmma::load_matrix_sync(fb, b_row ? b + k * N : b + k, b_row ? N : depth);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    for (int i = 0; i < fc.num_elements; i++)
        fc.x[i] = fc.x[i] + (Out)1;
    wmma::store_matrix_sync(c, fc, c_row ? N : M,
                            c_row ? wmma::mem_row_major : wmma::mem_col_major);
}

template <int M, int N, int K, class In, class Fragment, class Out, class LA, class LB>
void run(const char *name, int depth, int range, bool c_row)
{
    const bool a_row = std::is_same<LA, wmma::row_major>::value;
    const bool b_row = std::is_same<LB, wmma::row_major>::value;
    std::vector<In> a(M * depth), b(depth * N);
    std::vector<Out> c(M * N);
    std::vector<double> want(M * N, 1.0);
    bool positive = In(-1) > In(0);
    auto value = [&](int i, int mul) { return i * mul % range - (positive ? 0 : range / 2); };
    for (int i = 0; i < M; i++)
        for (int k = 0; k < depth; k++) {
            int x = value(i * depth + k, 13);
            a[a_row ? i * depth + k : k * M + i] = to<In>(x);
            for (int j = 0; j < N; j++) {
                int y = value(k * N + j, 7);
                b[b_row ? k * N + j : j * depth + k] = to<In>(y);
                want[i * N + j] += (double)x * y;
            }
        }
    In *da, *db;
    Out *dc;
    cudaMalloc(&da, a.size() * sizeof(In));
    cudaMalloc(&db, b.size() * sizeof(In));
    cudaMalloc(&dc, c.size() * sizeof(Out));
    cudaMemcpy(da, a.data(), a.size() * sizeof(In), cudaMemcpyHostToDevice);
    cudaMemcpy(db, b.data(), b.size() * sizeof(In), cudaMemcpyHostToDevice);
    product<M, N, K, In, Fragment, Out, LA, LB><<<1, 32>>>(da, db, dc, depth, c_row);
    cudaMemcpy(c.data(), dc, c.size() * sizeof(Out), cudaMemcpyDeviceToHost);
    int wrong = 0;
    double sum = 0;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double got = from(c[c_row ? i * N + j : j * M + i]);
            wrong += got != want[i * N + j];
            sum += got * (i + 2 * j);
        }
    printf("%-24s %dx%dx%d c[0]=%g c[last]=%g checksum %.0f wrong %d %s\n", name, M, N, K,
           from(c[0]), from(c.back()), sum, wrong, cudaGetErrorName(cudaGetLastError()));
    cudaFree(da);
    cudaFree(db);
    cudaFree(dc);
}

int main()
{
    typedef wmma::row_major R;
    typedef wmma::col_major C;
    typedef wmma::precision::tf32 tf32;
    run<16, 16, 16, half, half, float, R, C>("half -> float, row col", 64, 9, true);
    run<16, 16, 16, half, half, float, C, R>("half -> float, col row", 64, 9, false);
    run<16, 16, 16, half, half, half, R, R>("half -> half, row row", 32, 5, true);
    run<32, 8, 16, half, half, float, R, C>("half -> float", 48, 9, true);
    run<8, 32, 16, half, half, half, C, C>("half -> half", 16, 5, false);
    run<16, 16, 16, __nv_bfloat16, __nv_bfloat16, float, R, C>("bf16 -> float", 64, 15, true);
    run<8, 32, 16, __nv_bfloat16, __nv_bfloat16, float, C, R>("bf16 -> float", 32, 15, true);
    run<16, 16, 8, float, tf32, float, R, C>("tf32 -> float", 40, 33, true);
    run<16, 16, 8, float, tf32, float, C, R>("tf32 -> float", 24, 33, false);
    run<16, 16, 16, signed char, signed char, int, R, C>("s8 -> s32", 64, 201, true);
    run<32, 8, 16, signed char, signed char, int, C, R>("s8 -> s32", 32, 201, false);
    run<16, 16, 16, unsigned char, unsigned char, int, R, R>("u8 -> s32", 48, 255, true);
    run<8, 8, 4, double, double, double, R, C>("double", 32, 1001, true);
    run<8, 8, 4, double, double, double, C, R>("double", 16, 1001, false);
    return 0;
}
