// extended.cu: cuBLAS's vectors of any type, groups of products, and cuSOLVER's LU without pivots
// on a simulated GPU, against plain loops. Prints "ok NAME" or "wrong NAME".
//   nvcc extended.cu -lcublas -lcusolver && lockstep run ./a.out
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cusolverDn.h>

typedef std::complex<float> C;

static cublasHandle_t blas;
static int wrong;

static void say(const char *name, bool good)
{
    printf("%s %s\n", good ? "ok" : "wrong", name);
    wrong += !good;
}

static bool done(int status)
{
    if (status != 0)
        printf("  status %d\n", status);
    return status == 0;
}

template <typename T> struct Device { // a vector on the GPU
    T *data;
    size_t count;
    Device(const std::vector<T> &from) : count(from.size())
    {
        cudaMalloc(&data, count * sizeof(T) + 1);
        cudaMemcpy(data, from.data(), count * sizeof(T), cudaMemcpyHostToDevice);
    }
    ~Device()
    {
        cudaFree(data);
    }
    std::vector<T> get() const
    {
        std::vector<T> to(count);
        cudaMemcpy(to.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost);
        return to;
    }
};

// Small numbers with few bits: every type has them, and sums of halves of them are exact.
template <typename T> static std::vector<T> numbers(size_t n, int seed)
{
    std::vector<T> v(n);
    for (size_t i = 0; i < n; i++)
        v[i] = T((float)((i * 7 + seed) % 11) - 5);
    return v;
}

template <typename T> static void vectors(const char *type, cudaDataType code)
{
    const int n = 20, far = 2;
    char name[80];
    std::vector<T> x = numbers<T>(n * far, 1), y = numbers<T>(n, 4);
    Device<T> dx(x), dy(y);
    float alpha = 2, result = -1, sum = 0, squares = 0, sizes = 0;
    // y reversed: a negative increment begins at the end
    bool good = done(cublasAxpyEx(blas, n, &alpha, CUDA_R_32F, dx.data, code, far, dy.data, code,
                                  -1, CUDA_R_32F));
    std::vector<T> out = dy.get();
    for (int i = 0; i < n; i++)
        good = good && (float)out[n - 1 - i] == (float)y[n - 1 - i] + alpha * (float)x[i * far];
    snprintf(name, sizeof name, "axpy of %s", type);
    say(name, good);

    y = out;
    for (int i = 0; i < n; i++) {
        sum += (float)x[i * far] * (float)y[i];
        squares += (float)y[i] * (float)y[i];
        sizes += std::fabs((float)y[i]);
    }
    Device<T> value(std::vector<T>(1));
    good = done(cublasDotEx(blas, n, dx.data, code, far, dy.data, code, 1, &result, CUDA_R_32F,
                            CUDA_R_32F)) &&
           result == sum;
    good = good && done(cublasAsumEx(blas, n, dy.data, code, 1, &result, CUDA_R_32F, CUDA_R_32F)) &&
           result == sizes;
    good = good && done(cublasNrm2Ex(blas, n, dy.data, code, 1, &result, CUDA_R_32F, CUDA_R_32F)) &&
           std::fabs(result - std::sqrt(squares)) < 1e-4f;
    cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_DEVICE);
    good = good && done(cublasAsumEx(blas, n, dy.data, code, 1, value.data, code, CUDA_R_32F)) &&
           (float)value.get()[0] == (float)T(sizes);
    cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_HOST);
    snprintf(name, sizeof name, "sums of %s", type);
    say(name, good);

    float c = 0.5f, s = 0.25f;
    Device<T> r(y), q(y);
    good = done(cublasScalEx(blas, n / 2, &alpha, CUDA_R_32F, dx.data, code, far, CUDA_R_32F)) &&
           done(cublasRotEx(blas, n, dx.data, code, far, r.data, code, 1, &c, &s, CUDA_R_32F,
                            CUDA_R_32F)) &&
           done(cublasSwapEx(blas, n, dx.data, code, far, q.data, code, 1)) &&
           done(cublasCopyEx(blas, n, dx.data, code, far, dy.data, code, 1));
    std::vector<T> in = dx.get(), turned = r.get(), swapped = q.get(), copied = dy.get();
    for (int i = 0; i < n; i++) {
        float a = (float)x[i * far] * (i < n / 2 ? 2 : 1), b = (float)y[i];
        good = good && (float)in[i * far] == b && (float)copied[i] == b &&
               (float)swapped[i] == (float)T(c * a + s * b) &&
               (float)turned[i] == (float)T(c * b - s * a) &&
               (float)in[i * far + 1] == (float)x[i * far + 1];
    }
    snprintf(name, sizeof name, "scal, rot, swap, copy of %s", type);
    say(name, good);
}

static void complex_dots()
{
    const int n = 7;
    std::vector<C> x(n), y(n);
    C dot = 0, dotc = 0, result;
    for (int i = 0; i < n; i++) {
        x[i] = C((float)(i % 3), (float)(i - 3));
        y[i] = C((float)(2 - i), (float)(i % 4));
        dot += x[i] * y[i];
        dotc += std::conj(x[i]) * y[i];
    }
    Device<C> dx(x), dy(y);
    bool good = done(cublasDotEx(blas, n, dx.data, CUDA_C_32F, 1, dy.data, CUDA_C_32F, 1, &result,
                                 CUDA_C_32F, CUDA_C_32F)) &&
                result == dot;
    good = good &&
           done(cublasDotcEx(blas, n, dx.data, CUDA_C_32F, 1, dy.data, CUDA_C_32F, 1, &result,
                             CUDA_C_32F, CUDA_C_32F)) &&
           result == dotc;
    say("dots of complex numbers",
        good && cublasDotEx(blas, n, dx.data, CUDA_C_32F, 1, dy.data, CUDA_R_32F, 1, &result,
                            CUDA_C_32F, CUDA_C_32F) == CUBLAS_STATUS_NOT_SUPPORTED);
}

// Two groups: two products of one shape, three of another.
static void groups()
{
    const cublasOperation_t ta[] = {CUBLAS_OP_N, CUBLAS_OP_T}, tb[] = {CUBLAS_OP_N, CUBLAS_OP_N};
    const int m[] = {5, 8}, n[] = {4, 3}, k[] = {6, 7}, lda[] = {5, 7}, ldb[] = {6, 7},
              ldc[] = {5, 9}, sizes[] = {2, 3}, each = 80, all = 5;
    const float alpha[] = {1, 2}, beta[] = {0, 3};
    std::vector<float> a = numbers<float>(each * all, 1), b = numbers<float>(each * all, 2),
                       c = numbers<float>(each * all, 3);
    Device<float> da(a), db(b), dc(c);
    std::vector<float *> pa, pb, pc;
    for (int i = 0; i < all; i++) {
        pa.push_back(da.data + i * each);
        pb.push_back(db.data + i * each);
        pc.push_back(dc.data + i * each);
    }
    Device<float *> qa(pa), qb(pb), qc(pc);
    bool good = done(cublasSgemmGroupedBatched(blas, ta, tb, m, n, k, alpha, qa.data, lda, qb.data,
                                               ldb, beta, qc.data, ldc, 2, sizes)) &&
                done(cublasGemmGroupedBatchedEx(
                    blas, ta, tb, m, n, k, alpha, (const void *const *)qa.data, CUDA_R_32F, lda,
                    (const void *const *)qb.data, CUDA_R_32F, ldb, beta, (void *const *)qc.data,
                    CUDA_R_32F, ldc, 2, sizes, CUBLAS_COMPUTE_32F));
    std::vector<float> out = dc.get();
    for (int p = 0; p < all; p++)
        for (int g = p < 2 ? 0 : 1, j = 0; j < n[g]; j++)
            for (int i = 0; i < m[g]; i++) {
                float sum = 0, before = c[p * each + j * ldc[g] + i];
                for (int l = 0; l < k[g]; l++)
                    sum += a[p * each + (g ? i * lda[1] + l : l * lda[0] + i)] *
                           b[p * each + j * ldb[g] + l];
                for (int turn = 0; turn < 2; turn++)
                    before = alpha[g] * sum + beta[g] * before;
                good = good && out[p * each + j * ldc[g] + i] == before;
            }
    say("groups of products", good);
}

// l u = a, without exchanges of rows; and solutions by it.
static void plain_lu()
{
    const int n = 9, ld = 11;
    cusolverDnHandle_t solver;
    std::vector<C> a(ld * n), b(n);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            a[j * ld + i] = C((float)((i * 5 + j * 3) % 7) + (i == j ? 0.5f : 0),
                              (float)((i + 2 * j) % 5) - (i == j ? 9.f : 0));
    for (int i = 0; i < n; i++)
        b[i] = C((float)i - 4, 1);
    Device<C> da(a), dx(b);
    Device<int> info(std::vector<int>(1, 7));
    cusolverDnCreate(&solver);
    bool good =
        done(cusolverDnCgetrf(solver, n, n, (cuComplex *)da.data, ld, NULL, NULL, info.data)) &&
        info.get()[0] == 0 &&
        done(cusolverDnCgetrs(solver, CUBLAS_OP_N, n, 1, (cuComplex *)da.data, ld, NULL,
                              (cuComplex *)dx.data, n, info.data));
    std::vector<C> lu = da.get(), x = dx.get();
    for (int i = 0; i < n; i++) {
        C solved = 0;
        for (int j = 0; j < n; j++) {
            C sum = 0;
            for (int k = 0; k <= i && k <= j; k++)
                sum += (k == i ? C(1) : lu[k * ld + i]) * lu[j * ld + k];
            good = good && std::abs(sum - a[j * ld + i]) < 1e-3f;
            solved += a[j * ld + i] * x[j];
        }
        good = good && std::abs(solved - b[i]) < 1e-3f;
    }
    say("LU without pivots", good);

    std::vector<double> zero = {0, 1, 1, 0}; // fine with pivots, and not without
    Device<double> dz(zero);
    good = done(cusolverDnDgetrf(solver, 2, 2, dz.data, 2, NULL, NULL, info.data));
    say("a pivot of zero", good && info.get()[0] == 1);

    std::vector<double> one = {4, 2, 2, 5}, right = {8, 16};
    Device<double> d1(one), d2(one), b1(right), b2(right);
    Device<double *> list(std::vector<double *>{d1.data, d2.data}),
        rights(std::vector<double *>{b1.data, b2.data});
    Device<int> infos(std::vector<int>(2, 7));
    good = done(cusolverDnDpotrfBatched(solver, CUBLAS_FILL_MODE_LOWER, 2, list.data, 2, infos.data,
                                        2)) &&
           done(cusolverDnDpotrsBatched(solver, CUBLAS_FILL_MODE_LOWER, 2, 1, list.data, 2,
                                        rights.data, 2, info.data, 2));
    for (const std::vector<double> &s : {b1.get(), b2.get()})
        good = good && std::fabs(4 * s[0] + 2 * s[1] - 8) < 1e-12 &&
               std::fabs(2 * s[0] + 5 * s[1] - 16) < 1e-12;
    say("potrs of a batch", good && info.get()[0] == 0);
    cusolverDnDestroy(solver);
}

// c = a b^T, of one triangle; the other stays.
static void triangles()
{
    const int n = 7, k = 5, ldc = 8;
    std::vector<C> a(n * k), b(n * k), c(ldc * n);
    for (int i = 0; i < n * k; i++) {
        a[i] = C((float)(i % 5) - 2, (float)(i % 3));
        b[i] = C((float)(i % 7) - 3, (float)(i % 4) - 1);
    }
    for (int i = 0; i < ldc * n; i++)
        c[i] = C((float)(i % 6), 1);
    for (int way = 0; way < 4; way++) {
        bool conjugates = way & 1, transposed = way & 2;
        cublasFillMode_t fill = way < 2 ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
        cublasOperation_t op = !transposed ? CUBLAS_OP_N : conjugates ? CUBLAS_OP_C : CUBLAS_OP_T;
        Device<C> da(a), db(b), dc(c);
        C alpha = C(2, 1), beta = C(3, 0);
        float real_beta = 3;
        int ld = transposed ? k : n;
        bool good =
            done(conjugates ? cublasCherkx(blas, fill, op, n, k, (cuComplex *)&alpha,
                                           (cuComplex *)da.data, ld, (cuComplex *)db.data, ld,
                                           &real_beta, (cuComplex *)dc.data, ldc)
                            : cublasCsyrkx(blas, fill, op, n, k, (cuComplex *)&alpha,
                                           (cuComplex *)da.data, ld, (cuComplex *)db.data, ld,
                                           (cuComplex *)&beta, (cuComplex *)dc.data, ldc));
        std::vector<C> out = dc.get();
        for (int j = 0; j < n; j++)
            for (int i = 0; i < ldc; i++) {
                C sum = 0, want = c[j * ldc + i];
                for (int l = 0; l < k && i < n; l++) {
                    C x = transposed ? a[i * k + l] : a[l * n + i];
                    C y = transposed ? b[j * k + l] : b[l * n + j];
                    if (conjugates)
                        (transposed ? x : y) = std::conj(transposed ? x : y);
                    sum += x * y;
                }
                if (i < n && (way < 2 ? i >= j : i <= j)) {
                    want = alpha * sum + 3.f * want;
                    if (conjugates && i == j)
                        want = want.real();
                }
                good = good && std::abs(out[j * ldc + i] - want) < 1e-3f;
            }
        say(conjugates ? "herkx" : "syrkx", good);
    }

    std::vector<double> full = numbers<double>(ldc * n, 2), packed(n * (n + 1) / 2);
    Device<double> df(full), dp(packed), back(std::vector<double>(ldc * n));
    bool good = done(cublasDtrttp(blas, CUBLAS_FILL_MODE_UPPER, n, df.data, ldc, dp.data)) &&
                done(cublasDtpttr(blas, CUBLAS_FILL_MODE_UPPER, n, dp.data, back.data, ldc));
    std::vector<double> tight = dp.get(), loose = back.get();
    for (int j = 0, at = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            good = good && loose[j * ldc + i] == (i <= j ? full[j * ldc + i] : 0);
            if (i <= j)
                good = good && tight[at++] == full[j * ldc + i];
        }
    say("packed triangles", good);
}

int main()
{
    if (cublasCreate(&blas) != CUBLAS_STATUS_SUCCESS)
        return printf("wrong cublasCreate\n"), 1;
    vectors<float>("floats", CUDA_R_32F);
    vectors<double>("doubles", CUDA_R_64F);
    vectors<__half>("halves", CUDA_R_16F);
    vectors<__nv_bfloat16>("bfloat16", CUDA_R_16BF);
    complex_dots();
    groups();
    plain_lu();
    triangles();
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
