// Single-precision mathematics. IEEE operations and the _rn, _rz, _ru, _rd intrinsics print their
// bit patterns; library functions print few digits and say whether they are within CUDA's
// documented error of double on the host; the fast intrinsics likewise, with their looser bounds.

#include <cmath>
#include <cstdio>
#include <cstring>

const int N = 8;
__constant__ float xs[N] = {0.5f, 1.0f, 2.75f, 0.001f, 12.5f, 3.14159274f, 0.9999f, 33.3f};
__constant__ float ys[N] = {2.0f, 0.3f, -1.25f, 5.0f, 0.75f, 7.0f, -0.5f, 1.0f};

__global__ void exact(unsigned *out)
{
    int i = threadIdx.x;
    float x = xs[i], y = ys[i];
    float r[24] = {
        __fadd_rn(x, y),    __fadd_rz(x, y),       __fadd_ru(x, y),       __fadd_rd(x, y),
        __fmul_rn(x, y),    __fmul_rz(x, y),       __fmul_ru(x, y),       __fmul_rd(x, y),
        __fmaf_rn(x, y, x), __fmaf_rz(x, y, 1.0f), __fmaf_ru(x, y, 1.0f), __fmaf_rd(x, y, 1.0f),
        __fdiv_rn(x, y),    __fdiv_rz(x, y),       __fdiv_ru(x, y),       __fdiv_rd(x, y),
        __fsqrt_rn(x),      __fsqrt_rz(x),         __fsqrt_ru(x),         __frcp_rn(x),
        fmodf(x, y),        remainderf(x, y),      nextafterf(x, y),      __frsqrt_rn(x)};
    for (int k = 0; k < 24; k++)
        out[i * 24 + k] = __float_as_uint(r[k]);
}

__global__ void rounding(float *out, int *ints)
{
    int i = threadIdx.x;
    float x = xs[i] * ys[i];
    float r[12] = {floorf(x),      ceilf(x),       truncf(x),           roundf(x),
                   rintf(x),       fabsf(x),       copysignf(x, -1.0f), fminf(x, 1.0f),
                   fmaxf(x, 1.0f), fdimf(x, 1.0f), scalbnf(x, 5),       ldexpf(x, -3)};
    for (int k = 0; k < 12; k++)
        out[i * 12 + k] = r[k];
    int e;
    float m = frexpf(x, &e), whole, fraction = modff(x, &whole);
    out[96 + i * 3] = m;
    out[97 + i * 3] = fraction;
    out[98 + i * 3] = logbf(x);
    int n[10] = {e,
                 (int)whole,
                 __float2int_rn(x),
                 __float2int_ru(x),
                 (int)__float2uint_rd(x),
                 ilogbf(x),
                 isnan(x) + 2 * isinf(x) + 4 * signbit(x),
                 (int)lrintf(x),
                 (int)llroundf(x),
                 (int)__float2ll_rz(x * 1e6f)};
    for (int k = 0; k < 10; k++)
        ints[i * 10 + k] = n[k];
}

__global__ void special(unsigned *out)
{
    volatile float zero = 0.0f, tiny = 1e-40f, huge = 3e38f;
    float inf = 1.0f / zero, nan = inf - inf;
    float r[16] = {inf,
                   -inf,
                   huge * 2,
                   tiny * 0.5f,
                   tiny + tiny,
                   -zero,
                   fminf(nan, 1.0f),
                   fmaxf(1.0f, nan),
                   sqrtf(-zero),
                   expf(-200.0f),
                   expf(200.0f),
                   logf(zero),
                   powf(zero, zero),
                   atan2f(zero, -1.0f),
                   hypotf(inf, nan),
                   fmaf(huge, 2.0f, -inf)};
    for (int k = 0; k < 16; k++)
        out[k] = __float_as_uint(r[k]);
    out[16] = isnan(nan) != 0;
    out[17] = nan == nan;
    out[18] = !(nan < 1.0f) && !(nan > 1.0f);
    out[19] = isinf(inf) != 0;
}

#define FUNCTIONS(F)                                                                               \
    F(sinf, sin, 2)                                                                                \
    F(cosf, cos, 2)                                                                                \
    F(tanf, tan, 4) F(asinf, asin, 2) F(acosf, acos, 2) F(atanf, atan, 2) F(sinhf, sinh, 3)        \
        F(coshf, cosh, 2) F(tanhf, tanh, 2) F(asinhf, asinh, 3) F(expf, exp, 2) F(exp2f, exp2, 2)  \
            F(exp10f, pow10_, 2) F(expm1f, expm1, 1) F(logf, log, 1) F(log2f, log2, 1)             \
                F(log10f, log10, 2) F(log1pf, log1p, 1) F(cbrtf, cbrt, 1) F(erff, erf, 2)          \
                    F(erfcf, erfc, 4) F(tgammaf, tgamma, 5) F(lgammaf, lgamma, 6)                  \
                        F(rsqrtf, rsqrt_, 2) F(sqrtf, sqrt, 0.5) F(sinpif, sinpi_, 1)              \
                            F(normcdff, normcdf_, 5)

enum {
#define F(name, reference, ulp) INDEX_##name,
    FUNCTIONS(F)
#undef F
        COUNT
};

__global__ void library(float *out)
{
    float x = xs[threadIdx.x];
    if (threadIdx.x == 4)
        x = 0.25f; // inside every domain
#define F(name, reference, ulp) out[INDEX_##name * N + threadIdx.x] = name(x);
    FUNCTIONS(F)
#undef F
}

static double pow10_(double x)
{
    return pow(10.0, x);
}
static double rsqrt_(double x)
{
    return 1.0 / sqrt(x);
}
static double sinpi_(double x)
{
    double r = x - 2 * round(x / 2); // -1 to 1
    if (r > 0.5)
        r = 1 - r;
    else if (r < -0.5)
        r = -1 - r;
    return r == 0 ? 0 : sin(M_PI * r);
}
static double normcdf_(double x)
{
    return 0.5 * erfc(-x * M_SQRT1_2);
}

static void compare(const char *name, double (*reference)(double), double ulps, const float *got,
                    const float *host_xs)
{
    double worst = 0;
    for (int i = 0; i < N; i++) {
        double want = reference(i == 4 ? 0.25 : host_xs[i]);
        if (!std::isfinite(want) || std::isnan(got[i])) {
            if (std::isnan(want) != std::isnan(got[i]))
                worst = 1e9;
            continue;
        }
        int exponent;
        frexp(want, &exponent);
        double ulp = ldexp(1.0, exponent - 24);
        worst = fmax(worst, fabs(got[i] - want) / ulp);
    }
    printf("%-9s %9.3f %9.3f %9.3f %s\n", name, got[0], got[3], got[6],
           worst <= ulps + 0.501 ? "within" : "OUTSIDE");
}

__global__ void two_arguments(float *out)
{
    int i = threadIdx.x;
    float x = xs[i], y = ys[i];
    float s, c;
    sincosf(x, &s, &c);
    float r[10] = {powf(x, y),       atan2f(x, y),  hypotf(x, y),        fdividef(x, y),
                   __fdividef(x, y), s * s + c * c, norm3df(x, y, 1.0f), rhypotf(x, y),
                   j0f(x),           __powf(x, y)};
    for (int k = 0; k < 10; k++)
        out[i * 10 + k] = r[k];
}

__global__ void fast(float *out)
{
    float x = xs[threadIdx.x];
    float r[9] = {__sinf(x),  __cosf(x),          __tanf(x * 0.1f),
                  __expf(x),  __exp10f(x * 0.1f), __logf(x),
                  __log2f(x), __log10f(x),        __saturatef(x - 0.5f)};
    for (int k = 0; k < 9; k++)
        out[threadIdx.x * 9 + k] = r[k];
}

int main()
{
    float host_xs[N], *f;
    unsigned *u;
    int *n;
    cudaMemcpyFromSymbol(host_xs, xs, sizeof host_xs);
    cudaMallocManaged(&f, 4096);
    cudaMallocManaged(&u, 4096);
    cudaMallocManaged(&n, 4096);
    exact<<<1, N>>>(u);
    cudaDeviceSynchronize();
    for (int i = 0; i < N; i++) {
        printf("exact %d:", i);
        for (int k = 0; k < 24; k++)
            printf(" %08x", u[i * 24 + k]);
        printf("\n");
    }
    rounding<<<1, N>>>(f, n);
    cudaDeviceSynchronize();
    for (int i = 0; i < N; i++) {
        printf("rounding %d:", i);
        for (int k = 0; k < 12; k++)
            printf(" %.9g", f[i * 12 + k]);
        printf(" | %.9g %.9g %g |", f[96 + i * 3], f[97 + i * 3], f[98 + i * 3]);
        for (int k = 0; k < 10; k++)
            printf(" %d", n[i * 10 + k]);
        printf("\n");
    }
    special<<<1, 1>>>(u);
    cudaDeviceSynchronize();
    printf("special:");
    for (int k = 0; k < 20; k++)
        printf(" %08x", u[k]);
    printf("\n");
    library<<<1, N>>>(f);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
#define F(name, reference, ulp) compare(#name, reference, ulp, f + INDEX_##name * N, host_xs);
    FUNCTIONS(F)
#undef F
    two_arguments<<<1, N>>>(f);
    cudaDeviceSynchronize();
    for (int i = 0; i < N; i++) {
        printf("two arguments %d:", i);
        for (int k = 0; k < 10; k++)
            printf(" %.4g", f[i * 10 + k]);
        printf("\n");
    }
    fast<<<1, N>>>(f);
    cudaDeviceSynchronize();
    for (int i = 0; i < N; i++) {
        printf("fast %d:", i);
        for (int k = 0; k < 9; k++) { // a zero's sign is the approximation's
            float v = f[i * 9 + k];
            printf(fabsf(v) < 100 ? " %.3f" : " %.4g", fabsf(v) < 1e-5f ? 0.0f : v);
        }
        printf("\n");
    }
    return 0;
}
