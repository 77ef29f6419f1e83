// Integer dot products: __dp4a signed and unsigned, __dp2a, an int8 matrix multiply with them, and
// quantisation to int8 and back with saturating conversions.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

__global__ void dots(const int *a, const int *b, int *out)
{
    int i = threadIdx.x;
    out[i * 6 + 0] = __dp4a(a[i], b[i], 100);
    out[i * 6 + 1] = (int)__dp4a((unsigned)a[i], (unsigned)b[i], 100u);
    out[i * 6 + 2] = __dp2a_lo(a[i], b[i], -7);
    out[i * 6 + 3] = __dp2a_hi(a[i], b[i], -7);
    out[i * 6 + 4] = (int)__dp2a_lo((unsigned)a[i], (unsigned)b[i], 7u);
    out[i * 6 + 5] =
        __dp4a(make_char4(1, -2, 3, -4), make_char4(a[i] & 0x7f, 2, b[i] & 0x3f, 1), 5);
}

__global__ void matmul_s8(const int8_t *a, const int8_t *b_transposed, int *c, int m, int n, int k)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || column >= n)
        return;
    const int *ra = (const int *)(a + row * k), *rb = (const int *)(b_transposed + column * k);
    int sum = 0;
    for (int i = 0; i < k / 4; i++)
        sum = __dp4a(ra[i], rb[i], sum);
    c[row * n + column] = sum;
}

__global__ void quantise(const float *x, int8_t *q, float *back, float scale, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int v = __float2int_rn(x[i] / scale);
    q[i] = (int8_t)max(-128, min(127, v));
    back[i] = q[i] * scale;
}

int main()
{
    int *a, *b, *out;
    cudaMallocManaged(&a, 32 * 4);
    cudaMallocManaged(&b, 32 * 4);
    cudaMallocManaged(&out, 32 * 6 * 4);
    unsigned state = 3;
    for (int i = 0; i < 32; i++) {
        state = state * 1664525u + 1013904223u;
        a[i] = (int)state;
        state = state * 1664525u + 1013904223u;
        b[i] = (int)state;
    }
    a[0] = (int)0x80808080, b[0] = (int)0x80808080;
    dots<<<1, 32>>>(a, b, out);
    cudaDeviceSynchronize();
    for (int i = 0; i < 32; i += 5)
        printf("%08x . %08x: %d %u %d %d %u %d\n", a[i], b[i], out[i * 6], out[i * 6 + 1],
               out[i * 6 + 2], out[i * 6 + 3], out[i * 6 + 4], out[i * 6 + 5]);

    const int m = 48, n = 40, k = 64;
    int8_t *ma, *mb;
    int *mc, wrong = 0;
    long long sum = 0;
    cudaMallocManaged(&ma, m * k);
    cudaMallocManaged(&mb, n * k);
    cudaMallocManaged(&mc, m * n * 4);
    for (int i = 0; i < m * k; i++)
        ma[i] = (int8_t)(i * 37 % 251 - 125);
    for (int i = 0; i < n * k; i++)
        mb[i] = (int8_t)(i * 91 % 253 - 126);
    matmul_s8<<<dim3(3, 3), dim3(16, 16)>>>(ma, mb, mc, m, n, k);
    cudaDeviceSynchronize();
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            int want = 0;
            for (int l = 0; l < k; l++)
                want += ma[i * k + l] * mb[j * k + l];
            wrong += want != mc[i * n + j];
            sum += (long long)mc[i * n + j] * (i + j);
        }
    printf("int8 matmul: %d %d %d checksum %lld wrong %d\n", mc[0], mc[777], mc[m * n - 1], sum,
           wrong);

    float *x, *back;
    int8_t *q;
    cudaMallocManaged(&x, 100 * 4);
    cudaMallocManaged(&back, 100 * 4);
    cudaMallocManaged(&q, 100);
    for (int i = 0; i < 100; i++)
        x[i] = (float)(i - 50) * 0.625f;
    quantise<<<1, 128>>>(x, q, back, 0.25f, 100);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    for (int i = 0; i < 100; i += 9)
        printf("%g -> %d -> %g\n", x[i], q[i], back[i]);
    return 0;
}
