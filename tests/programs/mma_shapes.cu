// mma.sync in inline PTX, one fragment each: f16 (both accumulators), bf16, tf32, f64, s8, u8 with
// saturation, s4, b1 with and.popc. Every lane prints into a digest; C is checked against a product
// that is computed from the documented fragment layouts. Also ldmatrix x1, x2, x4 and stmatrix.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

// What matrix element (row, column) holds; small integers.
__host__ __device__ int a_at(int r, int c)
{
    return (r * 5 + c * 3) % 7 - 3;
}
__host__ __device__ int b_at(int r, int c)
{
    return (r * 2 + c * 7) % 5 - 2;
}
__host__ __device__ int c_at(int r, int c)
{
    return r - 2 * c;
}

__device__ uint32_t pack_half(int x, int y)
{
    __half2 h = __floats2half2_rn((float)x, (float)y);
    uint32_t u;
    memcpy(&u, &h, 4);
    return u;
}

__device__ uint32_t pack_bf16(int x, int y)
{
    __nv_bfloat162 h = __floats2bfloat162_rn((float)x, (float)y);
    uint32_t u;
    memcpy(&u, &h, 4);
    return u;
}

__device__ uint32_t pack_s8(int w, int x, int y, int z)
{
    return (w & 255) | (x & 255) << 8 | (y & 255) << 16 | (uint32_t)(z & 255) << 24;
}

__device__ uint32_t pack_s4(const int *v)
{
    uint32_t r = 0;
    for (int i = 0; i < 8; i++)
        r |= (uint32_t)(v[i] & 15) << (4 * i);
    return r;
}

__global__ void f16_f32(float *out)
{
    int g = threadIdx.x >> 2, t = threadIdx.x & 3;
    uint32_t a[4], b[2];
    for (int i = 0; i < 4; i++) {
        int r = g + (i & 1) * 8, c = t * 2 + (i >> 1) * 8;
        a[i] = pack_half(a_at(r, c), a_at(r, c + 1));
    }
    for (int i = 0; i < 2; i++)
        b[i] = pack_half(b_at(t * 2 + i * 8, g), b_at(t * 2 + i * 8 + 1, g));
    float c[4], d[4];
    for (int i = 0; i < 4; i++)
        c[i] = (float)c_at(g + (i >> 1) * 8, t * 2 + (i & 1));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
                 "{%8,%9}, {%10,%11,%12,%13};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]),
                   "f"(c[1]), "f"(c[2]), "f"(c[3]));
    for (int i = 0; i < 4; i++)
        out[(g + (i >> 1) * 8) * 8 + t * 2 + (i & 1)] = d[i];
}

__global__ void f16_f16(float *out)
{
    int g = threadIdx.x >> 2, t = threadIdx.x & 3;
    uint32_t a[2], b, c[2], d[2];
    for (int i = 0; i < 2; i++) {
        a[i] = pack_half(a_at(g + i * 8, t * 2), a_at(g + i * 8, t * 2 + 1));
        c[i] = pack_half(c_at(g + i * 8, t * 2), c_at(g + i * 8, t * 2 + 1));
    }
    b = pack_half(b_at(t * 2, g), b_at(t * 2 + 1, g));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3}, {%4}, {%5,%6};"
                 : "=r"(d[0]), "=r"(d[1])
                 : "r"(a[0]), "r"(a[1]), "r"(b), "r"(c[0]), "r"(c[1]));
    for (int i = 0; i < 2; i++) {
        __half2 h;
        memcpy(&h, &d[i], 4);
        out[(g + i * 8) * 8 + t * 2] = __low2float(h);
        out[(g + i * 8) * 8 + t * 2 + 1] = __high2float(h);
    }
}

__global__ void bf16_f32(float *out)
{
    int g = threadIdx.x >> 2, t = threadIdx.x & 3;
    uint32_t a[4], b[2];
    for (int i = 0; i < 4; i++) {
        int r = g + (i & 1) * 8, c = t * 2 + (i >> 1) * 8;
        a[i] = pack_bf16(a_at(r, c), a_at(r, c + 1));
    }
    for (int i = 0; i < 2; i++)
        b[i] = pack_bf16(b_at(t * 2 + i * 8, g), b_at(t * 2 + i * 8 + 1, g));
    float d[4];
    for (int i = 0; i < 4; i++)
        d[i] = (float)c_at(g + (i >> 1) * 8, t * 2 + (i & 1));
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
        "{%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    for (int i = 0; i < 4; i++)
        out[(g + (i >> 1) * 8) * 8 + t * 2 + (i & 1)] = d[i];
}

__global__ void tf32_f32(float *out)
{
    int g = threadIdx.x >> 2, t = threadIdx.x & 3;
    uint32_t a[4], b[2];
    for (int i = 0; i < 4; i++) {
        float v = (float)a_at(g + (i & 1) * 8, t + (i >> 1) * 4);
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(a[i]) : "f"(v));
    }
    for (int i = 0; i < 2; i++)
        b[i] = __float_as_uint((float)b_at(t + i * 4, g));
    float d[4];
    for (int i = 0; i < 4; i++)
        d[i] = (float)c_at(g + (i >> 1) * 8, t * 2 + (i & 1));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
                 "{%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    for (int i = 0; i < 4; i++)
        out[(g + (i >> 1) * 8) * 8 + t * 2 + (i & 1)] = d[i];
}

__global__ void f64(float *out) // 8 x 8 x 4
{
    int g = threadIdx.x >> 2, t = threadIdx.x & 3;
    double a = a_at(g, t), b = b_at(t, g),
           d[2] = {(double)c_at(g, t * 2), (double)c_at(g, t * 2 + 1)};
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+d"(d[0]), "+d"(d[1])
                 : "d"(a), "d"(b));
    out[g * 8 + t * 2] = (float)d[0];
    out[g * 8 + t * 2 + 1] = (float)d[1];
}

__global__ void s8_s32(float *out)
{
    int g = threadIdx.x >> 2, t = threadIdx.x & 3;
    uint32_t a[4], b[2];
    int d[4];
    for (int i = 0; i < 4; i++) {
        int r = g + (i & 1) * 8, c = t * 4 + (i >> 1) * 16;
        a[i] = pack_s8(a_at(r, c), a_at(r, c + 1), a_at(r, c + 2), a_at(r, c + 3));
    }
    for (int i = 0; i < 2; i++) {
        int r = t * 4 + i * 16;
        b[i] = pack_s8(b_at(r, g), b_at(r + 1, g), b_at(r + 2, g), b_at(r + 3, g));
    }
    for (int i = 0; i < 4; i++)
        d[i] = c_at(g + (i >> 1) * 8, t * 2 + (i & 1));
    asm volatile("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 {%0,%1,%2,%3}, "
                 "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    for (int i = 0; i < 4; i++)
        out[(g + (i >> 1) * 8) * 8 + t * 2 + (i & 1)] = (float)d[i];
}

__global__ void s4_s32(float *out) // 16 x 8 x 32
{
    int g = threadIdx.x >> 2, t = threadIdx.x & 3;
    uint32_t a[2], b;
    int v[8], d[4];
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 8; k++)
            v[k] = a_at(g + i * 8, t * 8 + k);
        a[i] = pack_s4(v);
    }
    for (int k = 0; k < 8; k++)
        v[k] = b_at(t * 8 + k, g);
    b = pack_s4(v);
    for (int i = 0; i < 4; i++)
        d[i] = c_at(g + (i >> 1) * 8, t * 2 + (i & 1));
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s4.s4.s32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
                 "{%0,%1,%2,%3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(b));
    for (int i = 0; i < 4; i++)
        out[(g + (i >> 1) * 8) * 8 + t * 2 + (i & 1)] = (float)d[i];
}

__global__ void bits(int *out) // 16 x 8 x 128, and.popc
{
    int lane = threadIdx.x, g = lane >> 2, t = lane & 3;
    uint32_t a[2] = {(g * 4u + t + 1) * 2654435761u, (g * 4u + t + 33) * 2654435761u};
    uint32_t b = (g * 4u + t + 77) * 2246822519u;
    int d[4] = {0, 1, 2, 3};
    asm volatile(
        "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc {%0,%1,%2,%3}, {%4,%5}, "
        "{%6}, {%0,%1,%2,%3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b));
    for (int i = 0; i < 4; i++)
        out[(g + (i >> 1) * 8) * 8 + t * 2 + (i & 1)] = d[i];
}

__global__ void matrices(uint32_t *out)
{
    __shared__ __align__(16) uint16_t s[32][8], back[32][8];
    for (int i = threadIdx.x; i < 256; i += 32)
        s[i / 8][i % 8] = (uint16_t)(i * 257);
    __syncwarp();
    uint32_t at = (uint32_t)__cvta_generic_to_shared(&s[threadIdx.x][0]), r[4], q[2], p;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                 : "=r"(q[0]), "=r"(q[1])
                 : "r"(at));
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(p) : "r"(at));
    uint32_t to = (uint32_t)__cvta_generic_to_shared(&back[threadIdx.x][0]);
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(to),
                 "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
                 : "memory");
    __syncwarp();
    uint32_t digest = 0;
    for (int i = 0; i < 4; i++)
        digest = digest * 31 + r[i];
    digest = digest * 31 + q[0];
    digest = digest * 31 + q[1];
    digest = digest * 31 + p;
    for (int i = 0; i < 8; i++)
        digest = digest * 31 + back[threadIdx.x][i];
    out[threadIdx.x] = digest;
}

static void check(const char *name, void (*kernel)(float *), int m, int k)
{
    float *out;
    cudaMallocManaged(&out, 128 * 4);
    kernel<<<1, 32>>>(out);
    cudaError_t status = cudaDeviceSynchronize();
    int wrong = 0;
    double sum = 0;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < 8; j++) {
            int want = c_at(i, j);
            for (int l = 0; l < k; l++)
                want += a_at(i, l) * b_at(l, j);
            wrong += out[i * 8 + j] != (float)want;
            sum += out[i * 8 + j] * (i + j + 1);
        }
    printf("%-8s m%dn8k%d d[0]=%g d[last]=%g checksum %.0f wrong %d %s\n", name, m, k, out[0],
           out[m * 8 - 1], sum, wrong, cudaGetErrorString(status));
    cudaFree(out);
}

int main()
{
    check("f16 f32", f16_f32, 16, 16);
    check("f16 f16", f16_f16, 16, 8);
    check("bf16", bf16_f32, 16, 16);
    check("tf32", tf32_f32, 16, 8);
    check("f64", f64, 8, 4);
    check("s8", s8_s32, 16, 32);
    check("s4", s4_s32, 16, 32);
    int *d;
    cudaMallocManaged(&d, 128 * 4);
    bits<<<1, 32>>>(d);
    cudaDeviceSynchronize();
    unsigned hash = 0;
    for (int i = 0; i < 128; i++)
        hash = hash * 31 + d[i];
    printf("b1: %d %d %d %d hash %08x\n", d[0], d[1], d[64], d[127], hash);
    uint32_t *digests;
    cudaMallocManaged(&digests, 32 * 4);
    matrices<<<1, 32>>>(digests);
    cudaDeviceSynchronize();
    printf("ldmatrix, stmatrix: %08x %08x %08x %s\n", digests[0], digests[7], digests[31],
           cudaGetErrorString(cudaGetLastError()));
    return 0;
}
