// Atomics on all types, in global and in shared memory: add, sub, exch, min, max, inc, dec, cas,
// and, or, xor on int, unsigned, 64-bit, float, double, half2, bfloat162; 16-bit CAS; 128-bit CAS
// and exchange; _block and _system forms; CAS loops for what is not built in (float max, double
// mul).
// flags: -std=c++17

#include <cstdio>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

struct results {
    int add, sub, min, max, exch_sum, cas, ands, ors, xors;
    unsigned uadd, umin, umax, inc, dec;
    unsigned long long add64, min64, max64, and64, or64, xor64, cas64;
    long long smin64, smax64;
    float fadd, fmax_loop;
    double dadd, dmul;
    __half2 h2;
    __nv_bfloat162 b2;
    __half h;
    unsigned short cas16;
    unsigned packed;      // what was returned is used, too
    unsigned by_block[2]; // block scope: each block has a word of its own
};

__device__ float atomic_max_float(float *p, float v)
{
    int *as_int = (int *)p, old = *as_int, seen;
    do {
        seen = old;
        old = atomicCAS(as_int, seen, __float_as_int(fmaxf(v, __int_as_float(seen))));
    } while (seen != old);
    return __int_as_float(old);
}

__device__ double atomic_multiply(double *p, double v)
{
    unsigned long long *bits = (unsigned long long *)p, old = *bits, seen;
    do {
        seen = old;
        old = atomicCAS(bits, seen, __double_as_longlong(v * __longlong_as_double(seen)));
    } while (seen != old);
    return __longlong_as_double(old);
}

__device__ void everything(results *r, int t)
{
    atomicAdd(&r->add, t);
    atomicSub(&r->sub, t * 2);
    atomicMin(&r->min, 50 - t);
    atomicMax(&r->max, t ^ 21);
    atomicAdd(&r->exch_sum, atomicExch(&r->cas, t) >= 0 ? 1 : 0);
    atomicAnd(&r->ands, ~(1 << (t % 30)));
    atomicOr(&r->ors, 1 << (t % 31));
    atomicXor(&r->xors, t * 0x10101);
    atomicAdd(&r->uadd, 0x80000000u + t);
    atomicMin(&r->umin, 0xfffffff0u - t);
    atomicMax(&r->umax, 0x80000000u + t);
    atomicInc(&r->inc, 9);
    atomicDec(&r->dec, 11);
    atomicAdd(&r->add64, (1ull << 32) + t);
    atomicMin(&r->min64, (1ull << 40) - t);
    atomicMax(&r->max64, (1ull << 40) + t);
    atomicAnd(&r->and64, ~(1ull << (t % 64)));
    atomicOr(&r->or64, 1ull << (t * 7 % 64));
    atomicXor(&r->xor64, (unsigned long long)t << 33);
    atomicMin(&r->smin64, -(long long)t);
    atomicMax(&r->smax64, (long long)t - 1000);
    atomicAdd(&r->fadd, 0.5f);
    atomic_max_float(&r->fmax_loop, t * 0.75f);
    atomicAdd(&r->dadd, 0.25);
    if (t < 10)
        atomic_multiply(&r->dmul, 2.0);
    atomicAdd(&r->h2, __floats2half2_rn(1.0f, 0.5f));
    atomicAdd(&r->b2, __floats2bfloat162_rn(1.0f, 2.0f));
    atomicAdd(&r->h, __float2half(1.0f));
    unsigned long long old = r->cas64, seen;
    do {
        seen = old;
        old = atomicCAS(&r->cas64, seen, seen + 3);
    } while (old != seen);
    unsigned short old16 = r->cas16, seen16;
    do {
        seen16 = old16;
        old16 = atomicCAS(&r->cas16, seen16, (unsigned short)(seen16 + 1));
    } while (old16 != seen16);
    atomicAdd_block(&r->by_block[blockIdx.x], 1u);
    atomicAdd_system(&r->packed, 1u << 16);
}

__global__ void global_atomics(results *r)
{
    everything(r, blockIdx.x * blockDim.x + threadIdx.x);
}

__device__ results start = {0, 0,     1000, -1000, 0, 0, -1, 0,   0,       0, ~0u, 0, 0, 0,
                            0, ~0ull, 0,    ~0ull, 0, 0, 0,  100, -100000, 0, -5,  0, 1};

__global__ void shared_atomics(results *out)
{
    __shared__ alignas(16) char raw[sizeof(results)];
    results *s = (results *)raw;
    if (threadIdx.x == 0)
        memcpy(s, &start, sizeof(results));
    __syncthreads();
    everything(s, threadIdx.x);
    __syncthreads();
    if (threadIdx.x == 0)
        memcpy(out, s, sizeof(results));
}

__global__ void tickets(int *counter, int *seen)
{
    int mine = atomicAdd(counter, 1);
    atomicAdd(&seen[mine], 1); // each ticket once
}

struct alignas(16) pair {
    unsigned long long a, b;
};

__global__ void wide(pair *p, unsigned long long *exchanged)
{
#if __CUDA_ARCH__ >= 900
    pair seen = *p, old = seen;
    do {
        seen = old;
        pair next = {seen.a + 1, seen.b + threadIdx.x};
        old = atomicCAS(p, seen, next);
    } while (old.a != seen.a || old.b != seen.b);
    if (threadIdx.x == 0) {
        pair fresh = {7, 8};
        pair before = atomicExch(p + 1, fresh);
        exchanged[0] = before.a;
        exchanged[1] = before.b;
    }
#endif
}

static void show(const char *name, const results &r)
{
    printf("%s: %d %d %d %d %d %d %d %d\n", name, r.add, r.sub, r.min, r.max, r.exch_sum, r.ands,
           r.ors, r.xors);
    printf("  %u %u %u inc %u dec %u\n", r.uadd, r.umin, r.umax, r.inc, r.dec);
    printf("  %llx %llx %llx %llx %llx %llx %llu %lld %lld\n", r.add64, r.min64, r.max64, r.and64,
           r.or64, r.xor64, r.cas64, r.smin64, r.smax64);
    printf("  %g %g %g %g half2 %g %g bf162 %g %g half %g cas16 %u packed %08x\n", r.fadd,
           r.fmax_loop, r.dadd, r.dmul, __low2float(r.h2), __high2float(r.h2), __low2float(r.b2),
           __high2float(r.b2), __half2float(r.h), r.cas16,
           r.packed + r.by_block[0] + r.by_block[1]);
}

int main()
{
    results *r;
    cudaMallocManaged(&r, sizeof *r);
    cudaMemcpyFromSymbol(r, start, sizeof *r);
    global_atomics<<<2, 64>>>(r);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    show("global", *r);
    shared_atomics<<<1, 100>>>(r);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    show("shared", *r);
    int *counter, *seen, wrong = 0;
    cudaMallocManaged(&counter, 4);
    cudaMallocManaged(&seen, 1000 * 4);
    *counter = 0;
    for (int i = 0; i < 1000; i++)
        seen[i] = 0;
    tickets<<<8, 125>>>(counter, seen);
    cudaDeviceSynchronize();
    for (int i = 0; i < 1000; i++)
        wrong += seen[i] != 1;
    printf("tickets: %d wrong %d\n", *counter, wrong);
    pair *p;
    unsigned long long *exchanged;
    cudaMallocManaged(&p, 2 * sizeof *p);
    cudaMallocManaged(&exchanged, 16);
    p[0] = {100, 1ull << 60};
    p[1] = {5, 6};
    wide<<<1, 64>>>(p, exchanged);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    printf("128 bits: %llu %llx, exchanged %llu %llu now %llu %llu\n", p[0].a, p[0].b, exchanged[0],
           exchanged[1], p[1].a, p[1].b);
    return 0;
}
