/*
 * small_kernels.cu: many small kernels, one launch each, for comparing counters: element sizes,
 * structures, tiles with halos, columns and rows, atomics of all kinds, wide shared accesses.
 * scripts/gpu-counters runs it under ncu and under `lockstep profile`. It checks no results.
 */
#include <cstdio>
#include <cuda_fp16.h>
#include <stdint.h>
__global__ void k_shared_fadd(float *o)
{
    __shared__ float s[32];
    if (threadIdx.x < 32)
        s[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&s[threadIdx.x % 8], 1.5f);
    __syncthreads();
    if (threadIdx.x < 32)
        o[threadIdx.x] = s[threadIdx.x];
}
__global__ void k_double_shared(double *o)
{
    __shared__ double s[256];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    o[threadIdx.x] = s[(threadIdx.x * 2) % 256] + s[255 - threadIdx.x];
}
__global__ void k_float2(const float2 *a, float2 *o, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ float2 s[128];
    s[threadIdx.x] = a[i];
    __syncthreads();
    float2 v = s[127 - threadIdx.x];
    o[i] = make_float2(v.y, v.x);
}
__global__ void k_float4s(const float4 *a, float4 *o)
{
    __shared__ float4 s[128];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    o[threadIdx.x] = s[(threadIdx.x * 5) % 128];
}
__global__ void k_half2(const half2 *a, half2 *o, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        o[i] = __hfma2(a[i], a[i], a[n - 1 - i]);
}
__global__ void k_bytes(const unsigned char *a, unsigned char *o, int n)
{
    __shared__ unsigned char s[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    s[threadIdx.x] = a[i];
    __syncthreads();
    o[i] = s[(threadIdx.x * 3) & 255];
}
__global__ void k_conv(const float *in, const float *w, float *o, int n)
{
    __shared__ float t[18][18];
    int x = threadIdx.x, y = threadIdx.y, gx = blockIdx.x * 16 + x, gy = blockIdx.y * 16 + y;
    for (int j = y; j < 18; j += 16)
        for (int i = x; i < 18; i += 16) {
            int cx = blockIdx.x * 16 + i - 1, cy = blockIdx.y * 16 + j - 1;
            t[j][i] = (cx >= 0 && cy >= 0 && cx < n && cy < n) ? in[cy * n + cx] : 0;
        }
    __syncthreads();
    float s = 0;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            s += t[y + j][x + i] * w[j * 3 + i];
    if (gx < n && gy < n)
        o[gy * n + gx] = s;
}
struct P {
    float x, y, z, w;
};
struct Q {
    float x, y, z;
};
__global__ void k_aos(const Q *p, float *o, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        o[i] = p[i].x * p[i].x + p[i].y * p[i].y + p[i].z * p[i].z;
}
__global__ void k_aos4(const P *p, P *o, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        P v = p[i];
        v.x += v.y;
        v.z *= 2;
        o[i] = v;
    }
}
__global__ void k_restrict(const float *__restrict__ a, const float *__restrict__ b,
                           float *__restrict__ o, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < 8; k++)
        s += a[(i + k * 37) % n] * b[(i * 3 + k) % n];
    o[i] = s;
}
__global__ void k_dyn(float *o, int n)
{
    extern __shared__ float d[];
    float *p = d, *q = d + n;
    p[threadIdx.x] = threadIdx.x;
    q[threadIdx.x] = 2 * threadIdx.x;
    __syncthreads();
    o[threadIdx.x] = p[(threadIdx.x + 1) % n] * q[(threadIdx.x * 17) % n];
}
__global__ void k_colsum(const float *a, float *o, int r, int c)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int i = 0; i < r; i++)
        s += a[i * c + j];
    o[j] = s;
}
__global__ void k_rowsum(const float *a, float *o, int r, int c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int j = 0; j < c; j++)
        s += a[i * c + j];
    o[i] = s;
}
__global__ void k_early(const int *a, int *o, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int x = a[i];
    if (x % 3 == 0)
        return;
    int k = 0;
    while (x > 1 && k < 50) {
        x = (x & 1) ? 3 * x + 1 : x / 2;
        k++;
    }
    o[i] = k;
}
__global__ void k_ticket(int *c, int *o)
{
    int t = atomicAdd(c, 1);
    o[t] = threadIdx.x;
}
__global__ void k_amax(int *c, const int *a)
{
    atomicMax(c, a[threadIdx.x]);
}
__global__ void k_u64(unsigned long long *c)
{
    atomicAdd(c, 1ULL);
}
__global__ void k_fsum(float *c, const float *a)
{
    atomicAdd(c, a[threadIdx.x]);
}
__global__ void k_scan(int *a)
{
    __shared__ int s[512];
    int t = threadIdx.x;
    s[2 * t] = a[2 * t];
    s[2 * t + 1] = a[2 * t + 1];
    int off = 1;
    for (int d = 256; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) {
            int i = off * (2 * t + 1) - 1, j = off * (2 * t + 2) - 1;
            s[j] += s[i];
        }
        off *= 2;
    }
    if (t == 0)
        s[511] = 0;
    for (int d = 1; d < 512; d *= 2) {
        off >>= 1;
        __syncthreads();
        if (t < d) {
            int i = off * (2 * t + 1) - 1, j = off * (2 * t + 2) - 1;
            int q = s[i];
            s[i] = s[j];
            s[j] += q;
        }
    }
    __syncthreads();
    a[2 * t] = s[2 * t];
    a[2 * t + 1] = s[2 * t + 1];
}
__global__ void k_red_unroll(const float *a, float *o)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = a[blockIdx.x * 512 + t] + a[blockIdx.x * 512 + t + 256];
    __syncthreads();
    if (t < 128)
        s[t] += s[t + 128];
    __syncthreads();
    if (t < 64)
        s[t] += s[t + 64];
    __syncthreads();
    if (t < 32) {
        float v = s[t] + s[t + 32];
        for (int k = 16; k; k /= 2)
            v += __shfl_down_sync(~0u, v, k);
        if (t == 0)
            o[blockIdx.x] = v;
    }
}
__global__ void k_struct_shared(float *o)
{
    __shared__ P s[64];
    int t = threadIdx.x;
    s[t].x = t;
    s[t].y = t + 1;
    s[t].z = t + 2;
    s[t].w = t + 3;
    __syncthreads();
    P v = s[63 - t];
    o[t] = v.x + v.y * v.z - v.w;
}
__constant__ float cw[64];
__global__ void k_const(const float *a, float *o)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < 16; k++)
        s += cw[k] * a[(i + k) & 1023];
    o[i] = s + cw[threadIdx.x & 63];
}
__global__ void k_sgemm_vec(const float *A, const float *B, float *C, int N)
{
    const int BM = 64, BN = 64, BK = 8;
    __shared__ float As[BK * BM], Bs[BK * BN];
    int tr = threadIdx.x / 16, tc = threadIdx.x % 16;
    int rA = threadIdx.x / 2, cA = threadIdx.x % 2;
    int rB = threadIdx.x / 16, cB = threadIdx.x % 16;
    A += blockIdx.y * BM * N;
    B += blockIdx.x * BN;
    C += blockIdx.y * BM * N + blockIdx.x * BN;
    float acc[32] = {0}, m[8], n[4];
    for (int k = 0; k < N; k += BK) {
        float4 t = *(float4 *)&A[rA * N + cA * 4];
        As[(cA * 4 + 0) * BM + rA] = t.x;
        As[(cA * 4 + 1) * BM + rA] = t.y;
        As[(cA * 4 + 2) * BM + rA] = t.z;
        As[(cA * 4 + 3) * BM + rA] = t.w;
        *(float4 *)&Bs[rB * BN + cB * 4] = *(float4 *)&B[rB * N + cB * 4];
        __syncthreads();
        A += BK;
        B += BK * N;
        for (int d = 0; d < BK; d++) {
            for (int i = 0; i < 8; i++)
                m[i] = As[d * BM + tr * 8 + i];
            for (int i = 0; i < 4; i++)
                n[i] = Bs[d * BN + tc * 4 + i];
            for (int i = 0; i < 8; i++)
                for (int j = 0; j < 4; j++)
                    acc[i * 4 + j] += m[i] * n[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 8; i++)
        *(float4 *)&C[(tr * 8 + i) * N + tc * 4] =
            make_float4(acc[i * 4], acc[i * 4 + 1], acc[i * 4 + 2], acc[i * 4 + 3]);
}
int main()
{
    char *a, *b, *c;
    cudaMalloc(&a, 1 << 22);
    cudaMalloc(&b, 1 << 22);
    cudaMalloc(&c, 1 << 22);
    cudaMemset(a, 0, 1 << 22);
    cudaMemset(b, 0, 1 << 22);
    cudaMemset(c, 0, 1 << 22);
    int *h = new int[4096];
    for (int i = 0; i < 4096; i++)
        h[i] = (i * 2654435761u >> 7) % 1000;
    cudaMemcpy(a, h, 16384, cudaMemcpyHostToDevice);
    k_shared_fadd<<<2, 128>>>((float *)b);
    k_double_shared<<<1, 256>>>((double *)b);
    k_float2<<<4, 128>>>((float2 *)a, (float2 *)b, 512);
    k_float4s<<<1, 128>>>((float4 *)a, (float4 *)b);
    k_half2<<<4, 128>>>((half2 *)a, (half2 *)b, 500);
    k_bytes<<<4, 256>>>((unsigned char *)a, (unsigned char *)b, 1024);
    k_conv<<<dim3(5, 5), dim3(16, 16)>>>((float *)a, (float *)c, (float *)b, 77);
    k_aos<<<4, 256>>>((Q *)a, (float *)b, 1000);
    k_aos4<<<4, 256>>>((P *)a, (P *)b, 1000);
    k_restrict<<<4, 256>>>((float *)a, (float *)c, (float *)b, 1000);
    k_dyn<<<1, 128, 1024>>>((float *)b, 128);
    k_colsum<<<4, 64>>>((float *)a, (float *)b, 64, 256);
    k_rowsum<<<2, 32>>>((float *)a, (float *)b, 64, 64);
    k_early<<<8, 128>>>((int *)a, (int *)b, 1000);
    k_ticket<<<4, 64>>>((int *)c, (int *)b);
    k_amax<<<4, 64>>>((int *)c, (int *)a);
    k_u64<<<4, 64>>>((unsigned long long *)c);
    k_fsum<<<4, 64>>>((float *)c, (float *)a);
    k_scan<<<1, 256>>>((int *)a);
    k_red_unroll<<<4, 256>>>((float *)a, (float *)b);
    k_struct_shared<<<1, 64>>>((float *)b);
    k_const<<<4, 128>>>((float *)a, (float *)b);
    k_sgemm_vec<<<dim3(2, 2), 128>>>((float *)a, (float *)b, (float *)c, 128);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
