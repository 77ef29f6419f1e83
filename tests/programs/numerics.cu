// Numerical classics: radix-2 FFT in shared memory against a slow transform, LU with partial
// pivoting in one block, Jacobi iteration, k-means with atomics in fixed point, Black-Scholes,
// trapezoid rule, a polynomial by Horner in double, power iteration. Few digits where
// approximations enter.

#include <cmath>
#include <complex>
#include <cstdio>
#include <cuComplex.h>
#include <vector>

const int FFT = 256;

__global__ void fft(const float2 *in, float2 *out, float direction)
{
    __shared__ float2 s[FFT];
    int t = threadIdx.x;
    in += blockIdx.x * FFT;
    out += blockIdx.x * FFT;
    for (int i = t; i < FFT; i += FFT / 2)
        s[__brev((unsigned)i) >> 24] = in[i];
    for (int half = 1; half < FFT; half *= 2) {
        __syncthreads();
        int k = t & (half - 1), i = ((t - k) << 1) + k;
        float sine, cosine;
        sincospif(direction * k / half, &sine, &cosine);
        float2 a = s[i], b = s[i + half];
        float2 w = make_float2(b.x * cosine - b.y * sine, b.x * sine + b.y * cosine);
        s[i] = make_float2(a.x + w.x, a.y + w.y);
        s[i + half] = make_float2(a.x - w.x, a.y - w.y);
    }
    __syncthreads();
    for (int i = t; i < FFT; i += FFT / 2)
        out[i] = s[i];
}

__global__ void lu_solve(double *a, double *b, int n) // one block, thread a row
{
    __shared__ int pivot;
    int r = threadIdx.x;
    for (int k = 0; k < n; k++) {
        if (r == 0) {
            pivot = k;
            for (int i = k + 1; i < n; i++)
                if (fabs(a[i * n + k]) > fabs(a[pivot * n + k]))
                    pivot = i;
        }
        __syncthreads();
        if (r < n && pivot != k) {
            double swap = a[k * n + r];
            a[k * n + r] = a[pivot * n + r];
            a[pivot * n + r] = swap;
            if (r == 0) {
                swap = b[k];
                b[k] = b[pivot];
                b[pivot] = swap;
            }
        }
        __syncthreads();
        if (r > k && r < n) {
            double factor = a[r * n + k] / a[k * n + k];
            for (int j = k; j < n; j++)
                a[r * n + j] -= factor * a[k * n + j];
            b[r] -= factor * b[k];
        }
        __syncthreads();
    }
    for (int k = n - 1; k >= 0; k--) {
        if (r == k)
            b[k] /= a[k * n + k];
        __syncthreads();
        if (r < k)
            b[r] -= a[r * n + k] * b[k];
        __syncthreads();
    }
}

__global__ void jacobi(const float *from, float *to, int n, unsigned *largest)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1,
        y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (x >= n - 1 || y >= n - 1)
        return;
    float value = 0.25f * (from[y * n + x - 1] + from[y * n + x + 1] + from[(y - 1) * n + x] +
                           from[(y + 1) * n + x]);
    to[y * n + x] = value;
    atomicMax(largest, __float_as_uint(fabsf(value - from[y * n + x])));
}

__global__ void assign(const int2 *points, int n, const int2 *centres, int k, int *label, int *sums)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int best = 0, nearest = 0x7fffffff;
    for (int c = 0; c < k; c++) {
        int dx = points[i].x - centres[c].x, dy = points[i].y - centres[c].y, d = dx * dx + dy * dy;
        if (d < nearest)
            nearest = d, best = c;
    }
    label[i] = best;
    atomicAdd(&sums[best * 3], points[i].x);
    atomicAdd(&sums[best * 3 + 1], points[i].y);
    atomicAdd(&sums[best * 3 + 2], 1);
}

__device__ float normal_cdf(float x)
{
    const float a[5] = {0.31938153f, -0.356563782f, 1.781477937f, -1.821255978f, 1.330274429f};
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(x)), p = 0;
    for (int i = 4; i >= 0; i--)
        p = (p + a[i]) * k;
    p *= 0.39894228f * expf(-0.5f * x * x);
    return x > 0 ? 1.0f - p : p;
}

__global__ void black_scholes(const float *price, const float *strike, const float *years,
                              float *call, float *put)
{
    int i = threadIdx.x;
    const float r = 0.02f, v = 0.30f;
    float root = sqrtf(years[i]),
          d1 = (logf(price[i] / strike[i]) + (r + 0.5f * v * v) * years[i]) / (v * root);
    float d2 = d1 - v * root, discount = expf(-r * years[i]);
    call[i] = price[i] * normal_cdf(d1) - strike[i] * discount * normal_cdf(d2);
    put[i] = strike[i] * discount * normal_cdf(-d2) - price[i] * normal_cdf(-d1);
}

__global__ void trapezoid(double *out, int steps)
{
    __shared__ double s[128];
    double sum = 0, h = 1.0 / steps;
    for (int i = threadIdx.x; i <= steps; i += 128) {
        double x = i * h, f = 4.0 / (1.0 + x * x);
        sum += i == 0 || i == steps ? f / 2 : f;
    }
    s[threadIdx.x] = sum * h;
    __syncthreads();
    for (int d = 64; d; d >>= 1) {
        if (threadIdx.x < d)
            s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *out = s[0];
}

__global__ void complex_powers(cuDoubleComplex *out)
{
    cuDoubleComplex z = make_cuDoubleComplex(0.6, 0.8), p = make_cuDoubleComplex(1, 0);
    for (int i = 0; i < (int)threadIdx.x; i++)
        p = cuCmul(p, z);
    out[threadIdx.x] = cuCadd(cuCdiv(p, make_cuDoubleComplex(1, 1)), cuConj(p));
}

template <class T> static T *managed(size_t n)
{
    T *p;
    cudaMallocManaged(&p, n * sizeof(T));
    return p;
}

static void fourier()
{
    float2 *in = managed<float2>(2 * FFT), *out = managed<float2>(2 * FFT),
           *back = managed<float2>(2 * FFT);
    for (int i = 0; i < 2 * FFT; i++)
        in[i] = make_float2((float)(i * 7 % 13 - 6), i < FFT ? 0.0f : (float)(i % 5));
    fft<<<2, FFT / 2>>>(in, out, -1.0f);
    fft<<<2, FFT / 2>>>(out, back, 1.0f);
    cudaDeviceSynchronize();
    double worst = 0, round_trip = 0;
    for (int block = 0; block < 2; block++)
        for (int k = 0; k < FFT; k++) {
            std::complex<double> sum = 0;
            for (int i = 0; i < FFT; i++)
                sum += std::complex<double>(in[block * FFT + i].x, in[block * FFT + i].y) *
                       std::polar(1.0, -2 * M_PI * i * k / FFT);
            float2 got = out[block * FFT + k], again = back[block * FFT + k];
            worst = fmax(worst, std::abs(sum - std::complex<double>(got.x, got.y)));
            round_trip = fmax(round_trip, fabs(again.x / FFT - in[block * FFT + k].x));
        }
    printf("fft: %.2f %.2f, %.2f %.2f, close %s, back %s\n", out[0].x, out[0].y, out[FFT + 3].x,
           out[FFT + 3].y, worst < 1e-2 ? "yes" : "NO", round_trip < 1e-5 ? "yes" : "NO");
}

static void linear_system()
{
    const int n = 40;
    double *a = managed<double>(n * n), *b = managed<double>(n);
    for (int i = 0; i < n; i++) {
        b[i] = 0;
        for (int j = 0; j < n; j++) {
            a[i * n + j] = (double)(((i * 97 + j) * 2654435761u >> 20) % 39) - 19;
            b[i] += a[i * n + j] * (j + 1);
        }
    }
    lu_solve<<<1, 64>>>(a, b, n);
    cudaDeviceSynchronize();
    double worst = 0;
    for (int i = 0; i < n; i++)
        worst += fabs(b[i] - (i + 1));
    printf("lu: x[0]=%.6f x[39]=%.6f close %s\n", b[0], b[39], worst < 1e-8 ? "yes" : "NO");
}

static void relaxation()
{
    const int side = 34;
    float *from = managed<float>(side * side), *to = managed<float>(side * side);
    unsigned *largest = managed<unsigned>(1);
    for (int i = 0; i < side * side; i++)
        from[i] = to[i] = i < side ? 100.0f : 0.0f;
    int steps = 0;
    float change = 1;
    for (; steps < 60; steps++) {
        *largest = 0;
        jacobi<<<dim3(4, 4), dim3(8, 8)>>>(from, to, side, largest);
        cudaDeviceSynchronize();
        unsigned bits = *largest;
        change = __builtin_bit_cast(float, bits);
        std::swap(from, to);
    }
    printf("jacobi: %d steps, change %.6f, centre %.5f, near the edge %.4f\n", steps, change,
           from[17 * side + 17], from[side + 17]);
}

static void clusters()
{
    const int points = 600, k = 4;
    int2 *p = managed<int2>(points), *centres = managed<int2>(k);
    int *label = managed<int>(points), *sums = managed<int>(k * 3);
    for (int i = 0; i < points; i++)
        p[i] = make_int2(i % 4 / 2 * 500 + i * 37 % 101, i % 2 * 400 + i * 53 % 97);
    for (int c = 0; c < k; c++)
        centres[c] = p[c * 3];
    for (int round = 0; round < 8; round++) {
        for (int c = 0; c < k * 3; c++)
            sums[c] = 0;
        assign<<<(points + 127) / 128, 128>>>(p, points, centres, k, label, sums);
        cudaDeviceSynchronize();
        for (int c = 0; c < k; c++)
            if (sums[c * 3 + 2])
                centres[c] =
                    make_int2(sums[c * 3] / sums[c * 3 + 2], sums[c * 3 + 1] / sums[c * 3 + 2]);
    }
    printf("k-means:");
    for (int c = 0; c < k; c++)
        printf(" (%d, %d; %d)", centres[c].x, centres[c].y, sums[c * 3 + 2]);
    printf("\n");
}

static void formulas()
{
    float *price = managed<float>(32), *strike = managed<float>(32), *years = managed<float>(32);
    float *call = managed<float>(32), *put = managed<float>(32);
    for (int i = 0; i < 32; i++)
        price[i] = 20.0f + i, strike[i] = 40.0f - i * 0.5f, years[i] = 0.25f + i * 0.125f;
    black_scholes<<<1, 32>>>(price, strike, years, call, put);
    cudaDeviceSynchronize();
    printf("black-scholes: %.3f %.3f, %.3f %.3f\n", call[8], put[8], call[31], put[31]);
    double *exact = managed<double>(1);
    trapezoid<<<1, 128>>>(exact, 1000);
    cudaDeviceSynchronize();
    printf("trapezoid: %.8f\n", *exact);
    cuDoubleComplex *z = managed<cuDoubleComplex>(32);
    complex_powers<<<1, 32>>>(z);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    printf("complex: %.10f %.10f, %.10f %.10f\n", cuCreal(z[2]), cuCimag(z[2]), cuCreal(z[31]),
           cuCimag(z[31]));
}

int main()
{
    fourier();
    linear_system();
    relaxation();
    clusters();
    formulas();
    return 0;
}
