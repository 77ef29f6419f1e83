// Double precision: IEEE operations in the four roundings as bit patterns, conversions, the library
// functions compared with the host's within a few ulps, integer-exact combinatorics, Kahan sums,
// and a Runge-Kutta orbit whose energy is held.

#include <cmath>
#include <cstdio>

const int N = 6;
__constant__ double xs[N] = {0.5, 1.0, 2.75, 1e-5, 12.5, 0.9999};
__constant__ double ys[N] = {3.0, 0.1, -1.25, 1e10, 1.0 / 3, -7.5};

__global__ void exact(unsigned long long *out)
{
    int i = threadIdx.x;
    double x = xs[i], y = ys[i];
    double r[20] = {__dadd_rn(x, y),   __dadd_rz(x, y),     __dadd_ru(x, y), __dadd_rd(x, y),
                    __dmul_rn(x, y),   __dmul_rz(x, y),     __dmul_ru(x, y), __dmul_rd(x, y),
                    __fma_rn(x, y, x), __fma_rz(x, y, 1.0), __ddiv_rn(x, y), __ddiv_ru(x, y),
                    __dsqrt_rn(x),     __dsqrt_rd(x),       __drcp_rn(x),    fmod(y, x),
                    remainder(y, x),   nextafter(x, y),     rint(y * 1.5),   floor(y)};
    for (int k = 0; k < 20; k++)
        out[i * 20 + k] = (unsigned long long)__double_as_longlong(r[k]);
}

__global__ void conversions(long long *out, float *floats)
{
    int i = threadIdx.x;
    double x = xs[i] * ys[i];
    out[i * 6 + 0] = __double2ll_rn(x);
    out[i * 6 + 1] = __double2int_rz(x);
    out[i * 6 + 2] = (long long)__double2ull_ru(x);
    out[i * 6 + 3] = __double2hiint(x);
    out[i * 6 + 4] = __double2loint(x);
    out[i * 6 + 5] = __double_as_longlong(__hiloint2double(0x3ff80000 + i, 7));
    floats[i * 4 + 0] = __double2float_rn(x);
    floats[i * 4 + 1] = __double2float_rz(x);
    floats[i * 4 + 2] = __double2float_ru(x);
    floats[i * 4 + 3] = (float)__ll2double_rn(1234567890123456789ll + i) / 1e18f;
}

#define FUNCTIONS(F)                                                                               \
    F(sin, 2)                                                                                      \
    F(cos, 2) F(tan, 3) F(asin, 3) F(acos, 3) F(atan, 3) F(sinh, 3) F(cosh, 2) F(tanh, 2)          \
        F(exp, 2) F(exp2, 2) F(expm1, 2) F(log, 2) F(log2, 2) F(log10, 2) F(log1p, 2) F(cbrt, 2)   \
            F(erf, 3) F(erfc, 6) F(tgamma, 11) F(lgamma, 5) F(sqrt, 0)

enum {
#define F(name, ulp) INDEX_##name,
    FUNCTIONS(F)
#undef F
        COUNT
};

__global__ void library(double *out)
{
    double x = xs[threadIdx.x];
    if (threadIdx.x == 4)
        x = 0.25;
#define F(name, ulp) out[INDEX_##name * N + threadIdx.x] = name(x);
    FUNCTIONS(F)
#undef F
    double s, c;
    sincos(x, &s, &c);
    out[COUNT * N + threadIdx.x] = s * s + c * c;
    out[COUNT * N + N + threadIdx.x] = pow(x, ys[threadIdx.x]);
    out[COUNT * N + 2 * N + threadIdx.x] = atan2(x, ys[threadIdx.x]);
    out[COUNT * N + 3 * N + threadIdx.x] = hypot(x, ys[threadIdx.x]);
}

static void compare(const char *name, double (*reference)(double), double ulps, const double *got,
                    const double *inputs)
{
    double worst = 0;
    for (int i = 0; i < N; i++) {
        double want = reference(i == 4 ? 0.25 : inputs[i]);
        if (std::isnan(want) || std::isnan(got[i])) {
            if (std::isnan(want) != std::isnan(got[i]))
                worst = 1e9;
            continue;
        }
        int exponent;
        frexp(want, &exponent);
        worst = fmax(worst, fabs(got[i] - want) / ldexp(1.0, exponent - 53));
    }
    printf("%-7s %.10g %.10g %s\n", name, got[0], got[3], worst <= ulps + 1 ? "within" : "OUTSIDE");
}

__global__ void kahan(double *out, int n)
{
    double sum = 0, correction = 0, plain = 0;
    for (int i = 1; i <= n; i++) {
        double term = 1.0 / ((double)i * i);
        double y = __dsub_rn(term, correction), t = __dadd_rn(sum, y);
        correction = __dsub_rn(__dsub_rn(t, sum), y);
        sum = t;
        plain = __dadd_rn(plain, term);
    }
    out[0] = sum;
    out[1] = plain;
}

__global__ void orbit(double *out, int steps, double h)
{
    double e = 0.1 * threadIdx.x, q[2] = {1 - e, 0}, p[2] = {0, sqrt((1 + e) / (1 - e))};
    for (int s = 0; s < steps; s++) { // leapfrog
        for (int half = 0; half < 2; half++) {
            if (half == 1)
                for (int i = 0; i < 2; i++)
                    q[i] += h * p[i];
            double r2 = q[0] * q[0] + q[1] * q[1], r3 = r2 * sqrt(r2);
            for (int i = 0; i < 2; i++)
                p[i] -= 0.5 * h * q[i] / r3;
        }
    }
    out[threadIdx.x * 3] = q[0];
    out[threadIdx.x * 3 + 1] = q[1];
    out[threadIdx.x * 3 + 2] =
        0.5 * (p[0] * p[0] + p[1] * p[1]) - 1 / sqrt(q[0] * q[0] + q[1] * q[1]);
}

int main()
{
    unsigned long long *u;
    long long *l;
    float *f;
    double *d, inputs[N];
    cudaMallocManaged(&u, 4096);
    cudaMallocManaged(&l, 4096);
    cudaMallocManaged(&f, 4096);
    cudaMallocManaged(&d, 4096);
    cudaMemcpyFromSymbol(inputs, xs, sizeof inputs);
    exact<<<1, N>>>(u);
    cudaDeviceSynchronize();
    for (int i = 0; i < N; i++) {
        printf("exact %d:", i);
        for (int k = 0; k < 20; k++)
            printf(" %016llx", u[i * 20 + k]);
        printf("\n");
    }
    conversions<<<1, N>>>(l, f);
    cudaDeviceSynchronize();
    for (int i = 0; i < N; i++)
        printf("conversions %d: %lld %lld %llu %llx %llx %llx %a %a %a %a\n", i, l[i * 6],
               l[i * 6 + 1], (unsigned long long)l[i * 6 + 2], l[i * 6 + 3], l[i * 6 + 4],
               l[i * 6 + 5], f[i * 4], f[i * 4 + 1], f[i * 4 + 2], f[i * 4 + 3]);
    library<<<1, N>>>(d);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
#define F(name, ulp) compare(#name, name, ulp, d + INDEX_##name * N, inputs);
    FUNCTIONS(F)
#undef F
    for (int k = 0; k < 4; k++)
        printf("more: %.9g %.9g %.9g\n", d[(COUNT + k) * N], d[(COUNT + k) * N + 2],
               d[(COUNT + k) * N + 5]);
    kahan<<<1, 1>>>(d, 2000);
    cudaDeviceSynchronize();
    printf("kahan %.17g plain %.17g\n", d[0], d[1]);
    orbit<<<1, 8>>>(d, 500, 0.01);
    cudaDeviceSynchronize();
    for (int t = 0; t < 8; t += 3)
        printf("orbit %d: %.8f %.8f energy %.6f\n", t, d[t * 3], d[t * 3 + 1], d[t * 3 + 2]);
    return 0;
}
