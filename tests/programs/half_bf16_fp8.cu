// Small floats: cuda_fp16.h, cuda_bf16.h and cuda_fp8.h on the device, with results as bit
// patterns: arithmetic, comparisons, conversions with their rounding, half2, infinities, denormals,
// and the fp8 encodings with saturation. Everything here is exact by IEEE or by the format.
// flags: -std=c++17

#include <cstdio>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

__constant__ float inputs[16] = {0.0f,     -0.0f, 1.0f,    -1.5f,  3.14159274f, 65504.0f,
                                 65520.0f, 1e-7f, 6.1e-5f, 1e-8f,  0.333f,      -448.0f,
                                 500.0f,   1e30f, -2.75f,  1234.5f};

__global__ void half_arithmetic(unsigned short *out)
{
    int t = threadIdx.x, i = t % 16;
    __half a = __float2half(inputs[i]), b = __float2half(inputs[(i * 7 + 3) % 16]);
    __half r[16];
    r[0] = a;
    r[1] = __hadd(a, b);
    r[2] = __hsub(a, b);
    r[3] = __hmul(a, b);
    r[4] = __hfma(a, b, a);
    r[5] = __hdiv(a, b);
    r[6] = __hneg(a);
    r[7] = __habs(a);
    r[8] = __hmax(a, b);
    r[9] = __hmin(a, b);
    r[10] = hsqrt(__habs(a));
    r[11] = hfloor(a);
    r[12] = hrint(a);
    r[13] = __hadd_sat(a, b);
    r[14] = __float2half_rz(inputs[i]);
    r[15] = __float2half_ru(inputs[i]);
    for (int k = 0; k < 16; k++)
        out[i * 16 + k] = __half_as_ushort(r[k]);
}

__global__ void half_integers(int *out)
{
    int i = threadIdx.x;
    __half a = __float2half(inputs[i]), b = __float2half(inputs[(i * 5 + 1) % 16]);
    out[i * 8 + 0] = __half2int_rn(a);
    out[i * 8 + 1] = __half2int_rz(a);
    out[i * 8 + 2] = __half2short_rd(a);
    out[i * 8 + 3] = (int)__half2uint_ru(a);
    out[i * 8 + 4] = __heq(a, b) | __hlt(a, b) << 1 | __hge(a, b) << 2 | __hisnan(a) << 3 |
                     (__hisinf(a) & 3) << 4 | __hltu(a, b) << 6;
    out[i * 8 + 5] = __half_as_ushort(__int2half_rn(i * 12345 - 70000));
    out[i * 8 + 6] = __half_as_ushort(__ushort2half_rz((unsigned short)(i * 4097)));
    out[i * 8 + 7] = __half_as_ushort(__ll2half_rn(1ll << i | 1));
}

__global__ void pairs(unsigned *out)
{
    int i = threadIdx.x;
    __half2 a = __floats2half2_rn(inputs[i], inputs[(i + 1) % 16]);
    __half2 b = __float22half2_rn(make_float2(inputs[(i + 2) % 16], 0.5f));
    __half2 r[10];
    r[0] = __hadd2(a, b);
    r[1] = __hmul2(a, b);
    r[2] = __hfma2(a, b, __half2half2(__float2half(0.25f)));
    r[3] = __hsub2_sat(a, b);
    r[4] = __lowhigh2highlow(a);
    r[5] = __hmax2(a, b);
    r[6] = __lows2half2(a, b);
    r[7] = __heq2(a, b);
    r[8] = __hfma2_relu(a, b, a);
    r[9] = __hadd2_rn(__hmul2_rn(a, b), a); // a * b + a may be fused
    for (int k = 0; k < 10; k++)
        memcpy(&out[i * 10 + k], &r[k], 4);
}

__global__ void bf16(unsigned short *out)
{
    int i = threadIdx.x;
    __nv_bfloat16 a = __float2bfloat16(inputs[i]),
                  b = __float2bfloat16_rz(inputs[(i * 3 + 1) % 16]);
    __nv_bfloat16 r[10];
    r[0] = a;
    r[1] = b;
    r[2] = __hadd(a, b);
    r[3] = __hmul(a, b);
    r[4] = __hfma(a, b, a);
    r[5] = __hsub(a, b);
    r[6] = __hmax(a, b);
    r[7] = __hdiv(a, b);
    r[8] = __int2bfloat16_rn(i * 1001 - 9);
    r[9] = __float2bfloat16_ru(__bfloat162float(a) * 1.001f);
    for (int k = 0; k < 10; k++)
        out[i * 10 + k] = __bfloat16_as_ushort(r[k]);
}

__global__ void bf16_pairs(unsigned *out)
{
    int i = threadIdx.x;
    __nv_bfloat162 a = __floats2bfloat162_rn(inputs[i], 1.0f / (i + 1));
    __nv_bfloat162 b = __float22bfloat162_rn(make_float2(2.5f, inputs[15 - i]));
    __nv_bfloat162 r[4] = {__hadd2(a, b), __hmul2(a, b), __hfma2(a, b, a), __hmin2(a, b)};
    for (int k = 0; k < 4; k++)
        memcpy(&out[i * 4 + k], &r[k], 4);
}

__global__ void fp8(unsigned char *out, float *back)
{
    int i = threadIdx.x;
    float x = inputs[i];
    __nv_fp8_e4m3 e4(x);
    __nv_fp8_e5m2 e5(x);
    out[i * 6 + 0] = e4.__x;
    out[i * 6 + 1] = e5.__x;
    out[i * 6 + 2] = __nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E4M3);
    out[i * 6 + 3] = __nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E5M2);
    __nv_fp8x2_storage_t pair =
        __nv_cvt_float2_to_fp8x2(make_float2(x, inputs[(i + 5) % 16]), __NV_SATFINITE, __NV_E4M3);
    out[i * 6 + 4] = (unsigned char)pair;
    out[i * 6 + 5] = (unsigned char)(pair >> 8);
    back[i * 2] = (float)e4;
    back[i * 2 + 1] = (float)e5;
}

template <class T> static unsigned hash_of(const T *values, int count)
{
    unsigned hash = 2166136261u;
    for (int i = 0; i < count; i++)
        hash = (hash ^ (unsigned)values[i]) * 16777619u;
    return hash;
}

template <class T> static T *managed(int count)
{
    T *p;
    cudaMallocManaged(&p, count * sizeof(T));
    return p;
}

int main()
{
    auto *h = managed<unsigned short>(256);
    half_arithmetic<<<1, 16>>>(h);
    cudaDeviceSynchronize();
    for (int i = 0; i < 16; i++) {
        printf("half %2d:", i);
        for (int k = 0; k < 16; k++)
            printf(" %04x", h[i * 16 + k]);
        printf("\n");
    }
    auto *n = managed<int>(128);
    half_integers<<<1, 16>>>(n);
    cudaDeviceSynchronize();
    for (int i = 0; i < 16; i++)
        printf("half to int %2d: %d %d %d %u flags %02x from int %04x %04x %04x\n", i, n[i * 8],
               n[i * 8 + 1], n[i * 8 + 2], (unsigned)n[i * 8 + 3], n[i * 8 + 4], n[i * 8 + 5],
               n[i * 8 + 6], n[i * 8 + 7]);
    auto *p = managed<unsigned>(160);
    pairs<<<1, 16>>>(p);
    cudaDeviceSynchronize();
    for (int k = 0; k < 10; k++)
        printf("half2 op %d: %08x %08x %08x\n", k, p[k], p[40 + k], p[150 + k]);
    printf("half2 hash %08x\n", hash_of(p, 160));
    auto *b = managed<unsigned short>(160);
    bf16<<<1, 16>>>(b);
    cudaDeviceSynchronize();
    for (int i = 0; i < 16; i++) {
        printf("bf16 %2d:", i);
        for (int k = 0; k < 10; k++)
            printf(" %04x", b[i * 10 + k]);
        printf("\n");
    }
    bf16_pairs<<<1, 16>>>(p);
    cudaDeviceSynchronize();
    printf("bf16x2: %08x %08x %08x %08x hash %08x\n", p[0], p[17], p[34], p[63], hash_of(p, 64));
    auto *f = managed<unsigned char>(96);
    auto *back = managed<float>(32);
    fp8<<<1, 16>>>(f, back);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    for (int i = 0; i < 16; i++)
        printf("fp8 %2d: %02x %02x %02x %02x %02x %02x back %g %g\n", i, f[i * 6], f[i * 6 + 1],
               f[i * 6 + 2], f[i * 6 + 3], f[i * 6 + 4], f[i * 6 + 5], back[i * 2],
               back[i * 2 + 1]);
    return 0;
}
