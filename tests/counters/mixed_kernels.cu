/*
 * mixed_kernels.cu: kernels as programs have them, from arithmetic alone to tensor cores: layers of
 * networks, products of matrices, scans, sorts, simulations. For comparing modelled time with a
 * GPU's; timing.h says how to run it.
 */
#include "timing.h"

#include <cuda_fp16.h>
#include <mma.h>

enum { N = 1 << 24, SIDE = 1024, STEPS = 256 };

/* Layers ------------------------------------------------------------------------------------------- */
__global__ void gelu(const float *a, float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float x = a[i];
        b[i] = 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
    }
}
__global__ void bias_relu(const float *a, const float *bias, float *b, int columns, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        b[i] = fmaxf(a[i] + bias[i % columns], 0.0f);
}
__global__ void half_axpy(const half2 *x, half2 *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __hfma2(__float2half2_rn(2.0f), x[i], y[i]);
}
__global__ void layer_norm(const float *a, float *b, int columns)
{
    __shared__ float sums[8], squares[8];
    const float *row = a + (size_t)blockIdx.x * columns;
    float sum = 0, square = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        float x = row[i];
        sum += x;
        square += x * x;
    }
    for (int step = 16; step; step /= 2) {
        sum += __shfl_xor_sync(~0u, sum, step);
        square += __shfl_xor_sync(~0u, square, step);
    }
    if (threadIdx.x % 32 == 0) {
        sums[threadIdx.x / 32] = sum;
        squares[threadIdx.x / 32] = square;
    }
    __syncthreads();
    sum = square = 0;
    for (int i = 0; i < 8; i++) {
        sum += sums[i];
        square += squares[i];
    }
    float mean = sum / columns, scale = rsqrtf(square / columns - mean * mean + 1e-5f);
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        b[(size_t)blockIdx.x * columns + i] = (row[i] - mean) * scale;
}
__global__ void softmax_warp(const float *a, float *b, int columns)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const float *from = a + (size_t)row * columns;
    float most = -1e30f, sum = 0;
    for (int i = lane; i < columns; i += 32)
        most = fmaxf(most, from[i]);
    for (int step = 16; step; step /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, step));
    for (int i = lane; i < columns; i += 32)
        sum += expf(from[i] - most);
    for (int step = 16; step; step /= 2)
        sum += __shfl_xor_sync(~0u, sum, step);
    for (int i = lane; i < columns; i += 32)
        b[(size_t)row * columns + i] = expf(from[i] - most) / sum;
}
__constant__ float weights[25];
__global__ void convolve(const float *a, float *b, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 2 || y < 2 || x >= n - 2 || y >= n - 2)
        return;
    float sum = 0;
    for (int dy = 0; dy < 5; dy++)
        for (int dx = 0; dx < 5; dx++)
            sum += weights[dy * 5 + dx] * a[(y + dy - 2) * n + x + dx - 2];
    b[y * n + x] = sum;
}
__global__ void attention_scores(const float *q, const float *k, float *scores, int length, int width)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int i = 0; i < width; i++)
        sum += q[row * width + i] * k[column * width + i];
    scores[row * length + column] = sum * 0.125f;
}

/* Matrices ----------------------------------------------------------------------------------------- */
__global__ void product(const float *a, const float *b, float *c, int n)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
template <int T, typename F> __global__ void product_tile(const F *a, const F *b, F *c, int n)
{
    __shared__ F as[T][T], bs[T][T];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, column = blockIdx.x * T + tx;
    F sum = 0;
    for (int t = 0; t < n; t += T) {
        as[ty][tx] = a[row * n + t + tx];
        bs[ty][tx] = b[(t + ty) * n + column];
        __syncthreads();
        for (int k = 0; k < T; k++)
            sum += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
/* 128 x 128 a block, 8 x 8 a thread, loads of four. */
__global__ void __launch_bounds__(256) product_registers(const float *a, const float *b, float *c, int n)
{
    __shared__ float as[8][128], bs[8][128];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row = blockIdx.y * 128, column = blockIdx.x * 128;
    float sum[8][8] = {};
    for (int t = 0; t < n; t += 8) {
        float4 x = *(const float4 *)&a[(row + threadIdx.x / 2) * n + t + threadIdx.x % 2 * 4];
        as[threadIdx.x % 2 * 4 + 0][threadIdx.x / 2] = x.x;
        as[threadIdx.x % 2 * 4 + 1][threadIdx.x / 2] = x.y;
        as[threadIdx.x % 2 * 4 + 2][threadIdx.x / 2] = x.z;
        as[threadIdx.x % 2 * 4 + 3][threadIdx.x / 2] = x.w;
        *(float4 *)&bs[threadIdx.x / 32][threadIdx.x % 32 * 4] =
            *(const float4 *)&b[(t + threadIdx.x / 32) * n + column + threadIdx.x % 32 * 4];
        __syncthreads();
        for (int k = 0; k < 8; k++) {
            float u[8], v[8];
            *(float4 *)&u[0] = *(float4 *)&as[k][ty * 4];
            *(float4 *)&u[4] = *(float4 *)&as[k][ty * 4 + 64];
            *(float4 *)&v[0] = *(float4 *)&bs[k][tx * 4];
            *(float4 *)&v[4] = *(float4 *)&bs[k][tx * 4 + 64];
            for (int i = 0; i < 8; i++)
                for (int j = 0; j < 8; j++)
                    sum[i][j] += u[i] * v[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            c[(row + ty * 4 + i % 4 + i / 4 * 64) * n + column + tx * 4 + j % 4 + j / 4 * 64] = sum[i][j];
}
__global__ void product_wmma(const half *a, const half *b, float *c, int n)
{
    using namespace nvcuda::wmma;
    int warp = threadIdx.x / 32, row = blockIdx.y * 32, column = (blockIdx.x * 4 + warp) * 32;
    fragment<matrix_a, 16, 16, 16, half, row_major> fa[2];
    fragment<matrix_b, 16, 16, 16, half, row_major> fb[2];
    fragment<accumulator, 16, 16, 16, float> fc[2][2];
    for (int i = 0; i < 4; i++)
        fill_fragment(fc[i / 2][i % 2], 0.0f);
    for (int k = 0; k < n; k += 16) {
        for (int i = 0; i < 2; i++) {
            load_matrix_sync(fa[i], a + (row + i * 16) * n + k, n);
            load_matrix_sync(fb[i], b + k * n + column + i * 16, n);
        }
        for (int i = 0; i < 4; i++)
            mma_sync(fc[i / 2][i % 2], fa[i / 2], fb[i % 2], fc[i / 2][i % 2]);
    }
    for (int i = 0; i < 4; i++)
        store_matrix_sync(c + (row + i / 2 * 16) * n + column + i % 2 * 16, fc[i / 2][i % 2], n, mem_row_major);
}
/* 64 x 64 a block through shared memory, 32 x 32 a warp. */
__global__ void __launch_bounds__(128) product_wmma_tile(const half *a, const half *b, float *c, int n)
{
    using namespace nvcuda::wmma;
    __shared__ half as[64][40], bs[32][72];
    int warp = threadIdx.x / 32, row = blockIdx.y * 64, column = blockIdx.x * 64;
    fragment<matrix_a, 16, 16, 16, half, row_major> fa[2];
    fragment<matrix_b, 16, 16, 16, half, row_major> fb[2];
    fragment<accumulator, 16, 16, 16, float> fc[2][2];
    for (int i = 0; i < 4; i++)
        fill_fragment(fc[i / 2][i % 2], 0.0f);
    for (int t = 0; t < n; t += 32) {
        for (int i = threadIdx.x; i < 256; i += 128) {
            *(uint4 *)&as[i / 4][i % 4 * 8] = *(const uint4 *)&a[(row + i / 4) * n + t + i % 4 * 8];
            *(uint4 *)&bs[i / 8][i % 8 * 8] = *(const uint4 *)&b[(t + i / 8) * n + column + i % 8 * 8];
        }
        __syncthreads();
        for (int k = 0; k < 32; k += 16) {
            for (int i = 0; i < 2; i++) {
                load_matrix_sync(fa[i], &as[warp / 2 * 32 + i * 16][k], 40);
                load_matrix_sync(fb[i], &bs[k][warp % 2 * 32 + i * 16], 72);
            }
            for (int i = 0; i < 4; i++)
                mma_sync(fc[i / 2][i % 2], fa[i / 2], fb[i % 2], fc[i / 2][i % 2]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        store_matrix_sync(c + (row + warp / 2 * 32 + i / 2 * 16) * n + column + warp % 2 * 32 + i % 2 * 16,
                          fc[i / 2][i % 2], n, mem_row_major);
}
__global__ void tensor_only(float *out, int steps)
{
    using namespace nvcuda::wmma;
    fragment<matrix_a, 16, 16, 16, half, row_major> fa;
    fragment<matrix_b, 16, 16, 16, half, row_major> fb;
    fragment<accumulator, 16, 16, 16, float> fc[4];
    fill_fragment(fa, __float2half(0.5f));
    fill_fragment(fb, __float2half(0.25f));
    for (int i = 0; i < 4; i++)
        fill_fragment(fc[i], 0.0f);
    for (int k = 0; k < steps; k++)
        for (int i = 0; i < 4; i++)
            mma_sync(fc[i], fa, fb, fc[i]);
    for (int i = 0; i < 4; i++)
        store_matrix_sync(out + (blockIdx.x * 32 + threadIdx.x / 32 * 4 + i) * 256, fc[i], 16, mem_row_major);
}
__global__ void int8_rows(const int *a, const int *b, int *c, int n)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (int k = 0; k < n; k++)
        sum = __dp4a(a[row * n + k], b[k * n + column], sum);
    c[row * n + column] = sum;
}

/* Scans, sorts, counts ------------------------------------------------------------------------------ */
__global__ void scan_block(const int *a, int *b)
{
    __shared__ int part[2][512];
    int i = blockIdx.x * 512 + threadIdx.x, at = 0;
    part[0][threadIdx.x] = a[i];
    __syncthreads();
    for (int step = 1; step < 512; step *= 2, at ^= 1) {
        int x = part[at][threadIdx.x];
        if (threadIdx.x >= step)
            x += part[at][threadIdx.x - step];
        part[at ^ 1][threadIdx.x] = x;
        __syncthreads();
    }
    b[i] = part[at][threadIdx.x];
}
__global__ void scan_warps(const int *a, int *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, x = a[i];
    for (int step = 1; step < 32; step *= 2) {
        int before = __shfl_up_sync(~0u, x, step);
        x += lane >= step ? before : 0;
    }
    if (i < n)
        b[i] = x;
}
__global__ void sort_block(const int *a, int *b)
{
    __shared__ int s[1024];
    int t = threadIdx.x;
    s[t] = a[blockIdx.x * 1024 + t];
    s[t + 512] = a[blockIdx.x * 1024 + t + 512];
    for (int size = 2; size <= 1024; size *= 2)
        for (int step = size / 2; step; step /= 2) {
            __syncthreads();
            int low = 2 * t - (t & (step - 1)), high = low + step;
            bool up = (low & size) == 0;
            int x = s[low], y = s[high];
            if ((x > y) == up) {
                s[low] = y;
                s[high] = x;
            }
        }
    __syncthreads();
    b[blockIdx.x * 1024 + t] = s[t];
    b[blockIdx.x * 1024 + t + 512] = s[t + 512];
}
__global__ void compact(const int *a, int *b, int *count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, first = 0;
    bool keep = i < n && a[i] % 3 == 0;
    unsigned votes = __ballot_sync(~0u, keep);
    if (lane == 0 && votes)
        first = atomicAdd(count, __popc(votes));
    first = __shfl_sync(~0u, first, 0);
    if (keep)
        b[(first + __popc(votes & ((1u << lane) - 1))) & (N - 1)] = a[i];
}
__global__ void histogram_4096(const int *a, unsigned *bins, int n)
{
    __shared__ unsigned mine[4096];
    for (int i = threadIdx.x; i < 4096; i += blockDim.x)
        mine[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[a[i] & 4095], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 4096; i += blockDim.x)
        atomicAdd(&bins[i], mine[i]);
}

/* Arithmetic --------------------------------------------------------------------------------------- */
__global__ void black_scholes(const float *price, const float *strike, float *call, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float s = price[i] + 1, k = strike[i] + 1, t = 0.5f, sigma = 0.3f, root = sigma * sqrtf(t);
    float d1 = (logf(s / k) + (0.02f + 0.5f * sigma * sigma) * t) / root, d2 = d1 - root;
    call[i] = s * normcdff(d1) - k * expf(-0.02f * t) * normcdff(d2);
}
__global__ void mandelbrot(int *out, int side)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, k = 0;
    float cx = x * 3.0f / side - 2, cy = y * 2.4f / side - 1.2f, u = 0, v = 0;
    for (; k < STEPS && u * u + v * v < 4; k++) {
        float w = u * u - v * v + cx;
        v = 2 * u * v + cy;
        u = w;
    }
    out[y * side + x] = k;
}
__global__ void bodies(const float4 *p, float3 *force, int n)
{
    __shared__ float4 tile[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    float4 me = p[i];
    float fx = 0, fy = 0, fz = 0;
    for (int t = 0; t < n; t += 256) {
        tile[threadIdx.x] = p[t + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 256; k++) {
            float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;
            float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), f = tile[k].w * r * r * r;
            fx += f * dx;
            fy += f * dy;
            fz += f * dz;
        }
        __syncthreads();
    }
    force[i] = make_float3(fx, fy, fz);
}
__global__ void monte_carlo(unsigned *hits, int rounds)
{
    unsigned s = blockIdx.x * blockDim.x + threadIdx.x + 1, mine = 0;
    for (int i = 0; i < rounds; i++) {
        s ^= s << 13, s ^= s >> 17, s ^= s << 5;
        float x = s * 2.3283064e-10f;
        s ^= s << 13, s ^= s >> 17, s ^= s << 5;
        float y = s * 2.3283064e-10f;
        mine += x * x + y * y < 1;
    }
    atomicAdd(hits, mine);
}
__global__ void divide_ints(const int *a, int *b, int n, int by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        b[i] = a[i] / by + a[i] % (by + 1);
}
__global__ void divide_floats(float *out, float x)
{
    float a = x + threadIdx.x;
    for (int i = 0; i < STEPS; i++)
        a = x / (a + 1.0f);
    out[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
__global__ void roots(float *out, float x)
{
    float a = x + threadIdx.x;
    for (int i = 0; i < STEPS; i++)
        a = sqrtf(a + x);
    out[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
__global__ void sines(float *out, float x)
{
    float a = x + threadIdx.x;
    for (int i = 0; i < 32; i++)
        a += sinf(a) * cosf(a + 1);
    out[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
__global__ void powers(float *out, float x)
{
    float a = x + threadIdx.x * 0.001f;
    for (int i = 0; i < 32; i++)
        a = powf(a, 1.1f) * 0.9f;
    out[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
__global__ void doubles(double *out, double x)
{
    double a = x + threadIdx.x;
    for (int i = 0; i < 64; i++)
        a = sqrt(a * x + 1.0) + exp(-a * 0.01);
    out[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
__global__ void longs(unsigned long long *out, unsigned long long x)
{
    unsigned long long a = x + threadIdx.x;
    for (int i = 0; i < STEPS; i++)
        a = a * 6364136223846793005ull + (a >> 33) + x;
    out[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
__global__ void halves(half2 *out, half2 x)
{
    half2 a = x, b = __hadd2(x, x), c = __hmul2(x, x), d = x;
    for (int i = 0; i < 2 * STEPS; i++) {
        a = __hfma2(a, x, x);
        b = __hfma2(b, x, x);
        c = __hfma2(c, x, x);
        d = __hfma2(d, x, x);
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = __hadd2(__hadd2(a, b), __hadd2(c, d));
}
__global__ void dependent(float *out, float x)
{
    float a = x;
    for (int i = 0; i < 4 * STEPS; i++)
        a = a * x + 1.0f;
    out[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
__global__ void branches(const int *a, int *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = i < n ? a[i] : 0, steps = 0;
    for (; x > 1 && steps < 64; steps++)
        x = x % 2 ? 3 * x + 1 : x / 2;
    if (i < n)
        b[i] = steps;
}
__global__ void uneven(float *out, int most)
{
    float a = threadIdx.x;
    int steps = blockIdx.x % 16 == 0 ? most : most / 16;
    for (int i = 0; i < steps; i++)
        a = a * 0.5f + 1.0f;
    out[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
__global__ void shared_random(const int *a, int *b, int rounds)
{
    __shared__ int s[2048];
    for (int i = threadIdx.x; i < 2048; i += blockDim.x)
        s[i] = a[i];
    __syncthreads();
    int at = threadIdx.x;
    for (int i = 0; i < rounds; i++)
        at = s[at & 2047];
    b[blockIdx.x * blockDim.x + threadIdx.x] = at;
}
__global__ void barriers(float *out, int rounds)
{
    __shared__ float s[256];
    s[threadIdx.x] = threadIdx.x;
    for (int i = 0; i < rounds; i++) {
        __syncthreads();
        float x = s[(threadIdx.x + i) & 255];
        __syncthreads();
        s[threadIdx.x] = x + 1;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x];
}

/* Launches ----------------------------------------------------------------------------------------- */
__global__ void fill_random(int *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = (unsigned)i * 2654435761u + 12345u;
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    if (i < n)
        a[i] = (int)((x ^ x >> 16) & (N - 1));
}
__global__ void fill_small(float *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] = (float)(i * 2654435761u >> 20) * (1.0f / 4096);
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    float *a = memory<float>(N), *b = memory<float>(N), *c = memory<float>(N);
    half *h = memory<half>(2 * SIDE * SIDE);
    int *index = memory<int>(N);
    LAUNCH("fill_small", (fill_small<<<N / 256, 256>>>(a, N)));
    LAUNCH("fill_mixed", (fill_random<<<N / 256, 256>>>(index, N)));
    LAUNCH("gelu", (gelu<<<N / 256, 256>>>(a, b, N)));
    LAUNCH("bias_relu", (bias_relu<<<N / 256, 256>>>(a, c, b, 1000, N)));
    LAUNCH("half_axpy", (half_axpy<<<N / 256, 256>>>((half2 *)a, (half2 *)b, N)));
    LAUNCH("layer_norm", (layer_norm<<<4096, 256>>>(a, b, 1024)));
    LAUNCH("layer_norm_long", (layer_norm<<<512, 256>>>(a, b, 16384)));
    LAUNCH("softmax_warp", (softmax_warp<<<4096, 256>>>(a, b, 256)));
    dim3 wide(32, 8), square(16, 16);
    LAUNCH("convolve", (convolve<<<dim3(64, 256), wide>>>(a, b, 2048)));
    LAUNCH("attention_scores", (attention_scores<<<dim3(32, 128), wide>>>(a, b, c, 1024, 64)));
    LAUNCH("product_1024", (product<<<dim3(32, 128), wide>>>(a, b, c, SIDE)));
    LAUNCH("product_256", (product<<<dim3(8, 32), wide>>>(a, b, c, 256)));
    LAUNCH("product_tile_16", (product_tile<16, float><<<dim3(64, 64), square>>>(a, b, c, SIDE)));
    LAUNCH("product_tile_32", (product_tile<32, float><<<dim3(32, 32), dim3(32, 32)>>>(a, b, c, SIDE)));
    LAUNCH("product_tile_double", (product_tile<16, double><<<dim3(32, 32), square>>>((double *)a, (double *)b, (double *)c, 512)));
    LAUNCH("product_registers", (product_registers<<<dim3(8, 8), 256>>>(a, b, c, SIDE)));
    LAUNCH("product_wmma", (product_wmma<<<dim3(8, 32), 128>>>(h, h + SIDE * SIDE, c, SIDE)));
    LAUNCH("product_wmma_tile", (product_wmma_tile<<<dim3(16, 16), 128>>>(h, h + SIDE * SIDE, c, SIDE)));
    LAUNCH("tensor_only", (tensor_only<<<264, 256>>>(c, 256)));
    LAUNCH("int8_rows", (int8_rows<<<dim3(16, 64), wide>>>(index, index + N / 2, (int *)c, 512)));
    LAUNCH("scan_block", (scan_block<<<8192, 512>>>(index, (int *)b)));
    LAUNCH("scan_warps", (scan_warps<<<N / 256, 256>>>(index, (int *)b, N)));
    LAUNCH("sort_block", (sort_block<<<1024, 512>>>(index, (int *)b)));
    LAUNCH("compact", (compact<<<N / 4 / 256, 256>>>(index, (int *)b, (int *)c, N / 4)));
    LAUNCH("histogram_4096", (histogram_4096<<<264, 512>>>(index, (unsigned *)b, N)));
    LAUNCH("black_scholes", (black_scholes<<<N / 4 / 256, 256>>>(a, a + N / 4, b, N / 4)));
    LAUNCH("mandelbrot", (mandelbrot<<<dim3(64, 128), square>>>((int *)b, 1024)));
    LAUNCH("bodies", (bodies<<<64, 256>>>((float4 *)a, (float3 *)b, 16384)));
    LAUNCH("monte_carlo", (monte_carlo<<<1056, 256>>>((unsigned *)b, 128)));
    LAUNCH("divide_ints", (divide_ints<<<N / 4 / 256, 256>>>(index, (int *)b, N / 4, 7)));
    LAUNCH("divide_floats", (divide_floats<<<528, 256>>>(b, 3.0f)));
    LAUNCH("roots", (roots<<<528, 256>>>(b, 3.0f)));
    LAUNCH("sines", (sines<<<528, 256>>>(b, 3.0f)));
    LAUNCH("powers", (powers<<<528, 256>>>(b, 3.0f)));
    LAUNCH("doubles", (doubles<<<264, 256>>>((double *)b, 3.0)));
    LAUNCH("longs", (longs<<<1056, 256>>>((unsigned long long *)b, 3)));
    LAUNCH("halves", (halves<<<1056, 256>>>((half2 *)b, __float2half2_rn(0.5f))));
    LAUNCH("dependent", (dependent<<<132, 128>>>(b, 0.5f)));
    LAUNCH("dependent_full", (dependent<<<1056, 256>>>(b, 0.5f)));
    LAUNCH("branches", (branches<<<N / 16 / 256, 256>>>(index, (int *)b, N / 16)));
    LAUNCH("uneven", (uneven<<<2112, 128>>>(b, 4096)));
    LAUNCH("shared_random", (shared_random<<<528, 256>>>(index, (int *)b, 256)));
    LAUNCH("barriers", (barriers<<<528, 256>>>(b, 128)));
    check(cudaDeviceSynchronize(), "end");
    return 0;
}
