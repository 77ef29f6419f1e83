/*
 * kernels.cu: ordinary kernels, one launch each, for comparing counters and modelled time with a
 * GPU's. The time model was fitted to these; memory_kernels.cu and mixed_kernels.cu have others.
 * timing.h says how to run it.
 */
#include "timing.h"

#include <cuda_fp16.h>
#include <mma.h>

enum { N = 1 << 24, SIDE = 4096, MAT = 512, ROWS = 4096, COLS = 1024, CHAIN = 512 };

/* Memory --------------------------------------------------------------------------------------- */
__global__ void copy(const float *a, float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        b[i] = a[i];
}
__global__ void copy_vector(const float4 *a, float4 *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        b[i] = a[i];
}
__global__ void saxpy(float k, const float *x, float *y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = k * x[i] + y[i];
}
__global__ void copy_from_1(const float *a, float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (i < n)
        b[i] = a[i];
}
__global__ void copy_stride(const float *a, float *b, int n, int stride)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * stride;
    if (i < n)
        b[i] = a[i];
}
__global__ void gather(const float *a, const int *index, float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        b[i] = a[index[i]];
}
__global__ void copy_few_blocks(const float *a, float *b, int n)
{
    extern __shared__ float unused[];
    if (n < 0)
        unused[threadIdx.x] = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        b[i] = a[i];
}
__global__ void structs(const float *a, float *b, int n) /* the second of four fields */
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        b[i] = a[4 * i + 1];
}

/* Transpose ------------------------------------------------------------------------------------ */
__global__ void transpose_naive(const float *a, float *b, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        b[x * n + y + k] = a[(y + k) * n + x];
}
template <int PAD> __global__ void transpose_tile(const float *a, float *b, int n)
{
    __shared__ float tile[32][32 + PAD];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        tile[threadIdx.y + k][threadIdx.x] = a[(y + k) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        b[(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}

/* Reductions and atomics ------------------------------------------------------------------------ */
__global__ void reduce_interleaved(const float *a, float *sums, int n)
{
    __shared__ float part[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    part[threadIdx.x] = i < n ? a[i] : 0;
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        int at = 2 * step * threadIdx.x;
        if (at < 256)
            part[at] += part[at + step];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        sums[blockIdx.x] = part[0];
}
__global__ void reduce_shuffle(const float *a, float *sum, int n)
{
    float mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        mine += a[i];
    for (int step = 16; step; step /= 2)
        mine += __shfl_down_sync(~0u, mine, step);
    if (threadIdx.x % 32 == 0)
        atomicAdd(sum, mine);
}
__global__ void histogram_global(const int *a, unsigned *bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[a[i] & 255], 1u);
}
__global__ void histogram_shared(const int *a, unsigned *bins, int n)
{
    __shared__ unsigned mine[256];
    mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[a[i] & 255], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}
__global__ void atomic_one(unsigned *counter)
{
    atomicAdd(counter, threadIdx.x);
}

/* Matrices --------------------------------------------------------------------------------------- */
__global__ void matmul_naive(const float *a, const float *b, float *c, int n)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
__global__ void matmul_tile(const float *a, const float *b, float *c, int n)
{
    __shared__ float as[32][32], bs[32][32];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 32 + ty, column = blockIdx.x * 32 + tx;
    float sum = 0;
    for (int t = 0; t < n; t += 32) {
        as[ty][tx] = a[row * n + t + tx];
        bs[ty][tx] = b[(t + ty) * n + column];
        __syncthreads();
        for (int k = 0; k < 32; k++)
            sum += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
__global__ void matmul_registers(const float *a, const float *b, float *c, int n)
{
    __shared__ float as[16][64], bs[16][64];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    int row = blockIdx.y * 64, column = blockIdx.x * 64;
    float sum[4][4] = {};
    for (int t = 0; t < n; t += 16) {
        for (int i = threadIdx.x; i < 1024; i += 256) {
            as[i % 16][i / 16] = a[(row + i / 16) * n + t + i % 16];
            bs[i / 64][i % 64] = b[(t + i / 64) * n + column + i % 64];
        }
        __syncthreads();
        for (int k = 0; k < 16; k++) {
            float x[4], y[4];
            for (int i = 0; i < 4; i++) {
                x[i] = as[k][ty * 4 + i];
                y[i] = bs[k][tx * 4 + i];
            }
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    sum[i][j] += x[i] * y[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            c[(row + ty * 4 + i) * n + column + tx * 4 + j] = sum[i][j];
}
__global__ void matmul_wmma(const half *a, const half *b, float *c, int n)
{
    using namespace nvcuda::wmma;
    int warp = threadIdx.x / 32, row = blockIdx.y * 16, column = (blockIdx.x * 4 + warp) * 16;
    fragment<matrix_a, 16, 16, 16, half, row_major> fa;
    fragment<matrix_b, 16, 16, 16, half, row_major> fb;
    fragment<accumulator, 16, 16, 16, float> fc;
    fill_fragment(fc, 0.0f);
    for (int k = 0; k < n; k += 16) {
        load_matrix_sync(fa, a + row * n + k, n);
        load_matrix_sync(fb, b + k * n + column, n);
        mma_sync(fc, fa, fb, fc);
    }
    store_matrix_sync(c + row * n + column, fc, n, mem_row_major);
}
__global__ void stencil(const float *a, float *b, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
        b[y * n + x] = 0.25f * (a[y * n + x - 1] + a[y * n + x + 1] + a[(y - 1) * n + x] +
                                a[(y + 1) * n + x]);
}
__global__ void softmax(const float *a, float *b, int columns)
{
    __shared__ float part[8];
    const float *row = a + (size_t)blockIdx.x * columns;
    float most = -1e30f, sum = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        most = fmaxf(most, row[i]);
    for (int step = 16; step; step /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, step));
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = most;
    __syncthreads();
    for (int i = 0; i < 8; i++)
        most = fmaxf(most, part[i]);
    __syncthreads();
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        sum += __expf(row[i] - most);
    for (int step = 16; step; step /= 2)
        sum += __shfl_xor_sync(~0u, sum, step);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int i = 0; i < 8; i++)
        sum += part[i];
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        b[(size_t)blockIdx.x * columns + i] = __expf(row[i] - most) / sum;
}

/* Arithmetic -------------------------------------------------------------------------------------- */
template <typename T> __global__ void chain(T *out, T x, T y)
{
    T a = x, b = y, c = x + y, d = x - y;
    for (int i = 0; i < CHAIN; i++) {
        a = a * x + y;
        b = b * x + y;
        c = c * x + y;
        d = d * x + y;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}
__global__ void special(float *out, float x)
{
    float a = x + threadIdx.x, b = a + 1;
    for (int i = 0; i < CHAIN; i++) {
        a = __sinf(a);
        b = rsqrtf(b) + 1.0f;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = a + b;
}
__global__ void divergent(float *out, float x)
{
    float a = x;
    int lane = threadIdx.x % 32;
    for (int i = 0; i < CHAIN; i++) {
        if (lane % 4 == 0)
            a = a * x + 1.0f;
        else if (lane % 4 == 1)
            a = a * x + a;
        else if (lane % 4 == 2)
            a = sqrtf(a);
        else
            a = a + x;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
__global__ void chase(const int *next, int *out, int steps)
{
    int at = blockIdx.x * 32 + threadIdx.x;
    for (int i = 0; i < steps; i++)
        at = next[at];
    out[blockIdx.x * 32 + threadIdx.x] = at;
}
__global__ void local_array(const int *a, int *out, int n)
{
    int mine[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 64; k++)
        mine[(k * 7 + a[k]) & 63] = k;
    int sum = 0;
    for (int k = 0; k < 64; k++)
        sum += mine[(k + a[i & 63]) & 63];
    if (i < n)
        out[i] = sum;
}
__global__ void banks(float *out, int stride)
{
    __shared__ float s[4096];
    for (int i = threadIdx.x; i < 4096; i += blockDim.x)
        s[i] = i;
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < CHAIN; i++)
        sum += s[(threadIdx.x * stride + i) & 4095];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
__global__ void tiny(float *a)
{
    a[threadIdx.x] += 1.0f;
}

/* Launches ------------------------------------------------------------------------------------------ */
__global__ void fill_floats(float *a, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        a[i] = (float)(i * 2654435761u >> 20) * (1.0f / 4096);
}
__global__ void fill_ints(int *a, int n, unsigned below)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        a[i] = (int)((i * 2654435761u >> 4) % below);
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    float *a = memory<float>(N), *b = memory<float>(N);
    int *index = memory<int>(N);
    LAUNCH("fill_floats", (fill_floats<<<1056, 256>>>(a, N)));
    LAUNCH("fill_ints", (fill_ints<<<1056, 256>>>(index, N, N)));
    check(cudaMemset(b, 0, N * 4), "memory");
    LAUNCH("copy", (copy<<<N / 256, 256>>>(a, b, N)));
    LAUNCH("copy_vector", (copy_vector<<<N / 1024, 256>>>((float4 *)a, (float4 *)b, N / 4)));
    LAUNCH("saxpy", (saxpy<<<1056, 256>>>(2.0f, a, b, N)));
    LAUNCH("copy_from_1", (copy_from_1<<<N / 256, 256>>>(a, b, N)));
    LAUNCH("copy_stride_2", (copy_stride<<<N / 512, 256>>>(a, b, N, 2)));
    LAUNCH("copy_stride_32", (copy_stride<<<N / 8192, 256>>>(a, b, N, 32)));
    LAUNCH("gather", (gather<<<N / 4 / 256, 256>>>(a, index, b, N / 4)));
    LAUNCH("copy_few_blocks", (copy_few_blocks<<<132, 128, 40000>>>(a, b, N / 4)));
    LAUNCH("structs", (structs<<<N / 4 / 256, 256>>>(a, b, N / 4)));
    dim3 tiles(SIDE / 32, SIDE / 32), rows(32, 8);
    LAUNCH("transpose_naive", (transpose_naive<<<tiles, rows>>>(a, b, SIDE)));
    LAUNCH("transpose_tile", (transpose_tile<0><<<tiles, rows>>>(a, b, SIDE)));
    LAUNCH("transpose_padded", (transpose_tile<1><<<tiles, rows>>>(a, b, SIDE)));
    LAUNCH("reduce_interleaved", (reduce_interleaved<<<N / 256, 256>>>(a, b, N)));
    LAUNCH("reduce_shuffle", (reduce_shuffle<<<1056, 256>>>(a, b, N)));
    LAUNCH("histogram_global", (histogram_global<<<N / 4 / 256, 256>>>(index, (unsigned *)b, N / 4)));
    LAUNCH("histogram_shared", (histogram_shared<<<1056, 256>>>(index, (unsigned *)b, N)));
    LAUNCH("atomic_one", (atomic_one<<<1024, 256>>>((unsigned *)b)));
    LAUNCH("matmul_naive", (matmul_naive<<<dim3(MAT / 32, MAT / 8), dim3(32, 8)>>>(a, a + MAT * MAT, b, MAT)));
    LAUNCH("matmul_naive_16", (matmul_naive<<<dim3(MAT / 16, MAT / 16), dim3(16, 16)>>>(a, a + MAT * MAT, b, MAT)));
    LAUNCH("matmul_tile", (matmul_tile<<<dim3(MAT / 32, MAT / 32), dim3(32, 32)>>>(a, a + MAT * MAT, b, MAT)));
    LAUNCH("matmul_registers", (matmul_registers<<<dim3(MAT / 64, MAT / 64), 256>>>(a, a + MAT * MAT, b, MAT)));
    LAUNCH("matmul_wmma", (matmul_wmma<<<dim3(MAT / 64, MAT / 16), 128>>>((half *)a, (half *)a + MAT * MAT, b, MAT)));
    LAUNCH("stencil", (stencil<<<dim3(SIDE / 32, SIDE / 8), rows>>>(a, b, SIDE)));
    LAUNCH("softmax", (softmax<<<ROWS, 256>>>(a, b, COLS)));
    LAUNCH("chain_f32", (chain<float><<<1056, 256>>>(b, 0.5f, 1.5f)));
    LAUNCH("chain_f64", (chain<double><<<1056, 256>>>((double *)b, 0.5, 1.5)));
    LAUNCH("chain_int", (chain<int><<<1056, 256>>>((int *)b, 3, 7)));
    LAUNCH("chain_few_warps", (chain<float><<<132, 32>>>(b, 0.5f, 1.5f)));
    LAUNCH("special", (special<<<1056, 256>>>(b, 0.5f)));
    LAUNCH("divergent", (divergent<<<1056, 256>>>(b, 0.5f)));
    LAUNCH("chase", (chase<<<132, 32>>>(index, (int *)b, 256)));
    LAUNCH("local_array", (local_array<<<1056, 256>>>(index, (int *)b, N)));
    LAUNCH("banks_1", (banks<<<1056, 256>>>(b, 1)));
    LAUNCH("banks_8", (banks<<<1056, 256>>>(b, 8)));
    LAUNCH("tiny", (tiny<<<1, 32>>>(b)));
    check(cudaDeviceSynchronize(), "end");
    return 0;
}
