// solver_wide.cu: cuSOLVER's calls with 64-bit sizes, ranges of eigenvalues and pairs of matrices
// on a simulated GPU, by what their results must satisfy. Prints "ok NAME of TYPE" or "wrong ...".
//   nvcc solver_wide.cu -lcusolver && lockstep run ./a.out
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cusolverDn.h>

static cusolverDnHandle_t handle;
static cusolverDnParams_t params;
static int wrong, *info;

typedef std::complex<float> C;
typedef std::complex<double> Z;

template <typename T> struct Type;
template <> struct Type<float> {
    typedef float real;
    static const cudaDataType code = CUDA_R_32F, real_code = CUDA_R_32F;
    static constexpr const char *name = "floats";
};
template <> struct Type<Z> {
    typedef double real;
    static const cudaDataType code = CUDA_C_64F, real_code = CUDA_R_64F;
    static constexpr const char *name = "double complex";
};

template <typename T> static double bound()
{
    return sizeof(typename Type<T>::real) == 4 ? 2e-4 : 1e-11;
}

template <typename T> static void say(const char *name, bool good)
{
    int failed = -1;
    cudaMemcpy(&failed, info, sizeof failed, cudaMemcpyDeviceToHost);
    good = good && failed == 0;
    printf("%s %s of %s\n", good ? "ok" : "wrong", name, Type<T>::name);
    wrong += !good;
}

static bool done(cusolverStatus_t status)
{
    if (status != CUSOLVER_STATUS_SUCCESS)
        printf("  status %d\n", (int)status);
    return status == CUSOLVER_STATUS_SUCCESS;
}

static float make(int i, int j, float)
{
    return (float)((i * 7 + j * 3) % 11 - 5) / 4;
}

static Z make(int i, int j, Z)
{
    return Z(make(i, j, 0.f), make(j + 1, i + 2, 0.f));
}

static float conjugate(float a)
{
    return a;
}

static Z conjugate(Z a)
{
    return std::conj(a);
}

// Columns first, on both sides.
template <typename T> struct Matrix {
    int rows, cols, ld;
    std::vector<T> values;
    T *device;
    Matrix(int rows, int cols, int ld) : rows(rows), cols(cols), ld(ld), values((size_t)ld * cols)
    {
        cudaMalloc(&device, values.size() * sizeof(T));
    }
    ~Matrix()
    {
        cudaFree(device);
    }
    T &at(int i, int j)
    {
        return values[(size_t)j * ld + i];
    }
    void general()
    {
        for (int j = 0; j < cols; j++)
            for (int i = 0; i < rows; i++)
                at(i, j) = make(i, j, T());
        put();
    }
    void hermitian(float diagonal)
    {
        for (int j = 0; j < cols; j++)
            for (int i = 0; i <= j; i++) {
                at(j, i) = i == j ? T(diagonal + (float)i) : make(i, j, T());
                at(i, j) = conjugate(at(j, i));
            }
        put();
    }
    void put()
    {
        cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
    }
    void get()
    {
        cudaMemcpy(values.data(), device, values.size() * sizeof(T), cudaMemcpyDeviceToHost);
    }
    void operator=(const Matrix &other)
    {
        values = other.values;
        put();
    }
};

// The largest difference between left * right and what is wanted, of some columns.
template <typename T>
static double off(Matrix<T> &left, Matrix<T> &right, Matrix<T> &want, int columns)
{
    double largest = 0;
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < left.rows; i++) {
            T sum = T(0);
            for (int k = 0; k < left.cols; k++)
                sum += left.at(i, k) * right.at(k, j);
            double by = std::abs(sum - want.at(i, j));
            largest = by <= largest ? largest : by; // a NaN is large
        }
    return largest;
}

template <typename T> static void systems()
{
    const int n = 14, k = 3, ld = 17;
    const cudaDataType t = Type<T>::code;
    size_t on_device = 0, on_host = 0;
    Matrix<T> a(n, n, ld), f(n, n, ld), b(n, k, ld), x(n, k, ld);
    b.general();
    a.hermitian(40);
    f = a;
    x = b;
    bool good = done(cusolverDnXpotrf_bufferSize(handle, params, CUBLAS_FILL_MODE_LOWER, n, t,
                                                 f.device, ld, t, &on_device, &on_host)) &&
                on_device > 0 &&
                done(cusolverDnXpotrf(handle, params, CUBLAS_FILL_MODE_LOWER, n, t, f.device, ld, t,
                                      NULL, on_device, NULL, on_host, info)) &&
                done(cusolverDnXpotrs(handle, params, CUBLAS_FILL_MODE_LOWER, n, k, t, f.device, ld,
                                      t, x.device, ld, info));
    x.get();
    say<T>("potrf and potrs", good && off(a, x, b, k) < bound<T>());

    a.general();
    for (int i = 0; i < n; i++)
        a.at(i, (i + 5) % n) += T(20); // needs its pivots
    f = a;
    f.put();
    x = b;
    int64_t *pivots;
    cudaMalloc(&pivots, n * sizeof *pivots);
    good = done(cusolverDnXgetrf(handle, params, n, n, t, f.device, ld, pivots, t, NULL, 0, NULL, 0,
                                 info)) &&
           done(cusolverDnXgetrs(handle, params, CUBLAS_OP_N, n, k, t, f.device, ld, pivots, t,
                                 x.device, ld, info));
    x.get();
    say<T>("getrf and getrs", good && off(a, x, b, k) < bound<T>());
    cudaFree(pivots);

    Matrix<T> upper(n, n, ld), inverse(n, n, ld), one(n, n, ld);
    upper.hermitian(30);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            upper.at(i, j) = i <= j ? upper.at(i, j) : T(0);
            one.at(i, j) = T(i == j ? 1 : 0);
        }
    inverse = upper;
    good = done(cusolverDnXtrtri(handle, CUBLAS_FILL_MODE_UPPER, CUBLAS_DIAG_NON_UNIT, n, t,
                                 inverse.device, ld, NULL, 0, NULL, 0, info));
    inverse.get();
    say<T>("trtri", good && off(upper, inverse, one, n) < bound<T>());
}

// a = u s v, from both calls; gesvdp gives v itself, not its conjugate transpose.
template <typename T> static void singular()
{
    typedef typename Type<T>::real real;
    const int m = 13, n = 8, ld = 15;
    const cudaDataType t = Type<T>::code, r = Type<T>::real_code;
    Matrix<T> a(m, n, ld), f(m, n, ld), u(m, n, ld), v(n, n, n);
    Matrix<real> s(n, 1, n);
    a.general();
    for (int polar = 0; polar < 2; polar++) {
        double error = -1;
        f = a;
        bool good = polar
                        ? done(cusolverDnXgesvdp(handle, params, CUSOLVER_EIG_MODE_VECTOR, 1, m, n,
                                                 t, f.device, ld, r, s.device, t, u.device, ld, t,
                                                 v.device, n, t, NULL, 0, NULL, 0, info, &error)) &&
                              error == 0
                        : done(cusolverDnXgesvd(handle, params, 'S', 'S', m, n, t, f.device, ld, r,
                                                s.device, t, u.device, ld, t, v.device, n, t, NULL,
                                                0, NULL, 0, info));
        u.get();
        v.get();
        s.get();
        Matrix<T> right(n, n, n);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                right.at(i, j) = T(s.at(i, 0)) * (polar ? conjugate(v.at(j, i)) : v.at(i, j));
        for (int i = 1; i < n; i++)
            good = good && s.at(i, 0) <= s.at(i - 1, 0) && s.at(i, 0) >= 0;
        say<T>(polar ? "gesvdp" : "gesvd", good && off(u, right, a, n) < bound<T>());
    }
}

// a v = v w for the columns that were asked for.
template <typename T> static void spectra()
{
    typedef typename Type<T>::real real;
    const int n = 11, ld = 12;
    const cudaDataType t = Type<T>::code, r = Type<T>::real_code;
    Matrix<T> a(n, n, ld), v(n, n, ld), want(n, n, ld);
    Matrix<real> w(n, 1, n), all(n, 1, n);
    a.hermitian(3);
    cusolverEigRange_t ranges[] = {CUSOLVER_EIG_RANGE_ALL, CUSOLVER_EIG_RANGE_I,
                                   CUSOLVER_EIG_RANGE_V};
    for (int way = 0; way < 3; way++) {
        real low = (all.at(2, 0) + all.at(3, 0)) / 2, high = (all.at(6, 0) + all.at(7, 0)) / 2;
        int64_t found = -1;
        v = a;
        bool good = done(cusolverDnXsyevdx(handle, params, CUSOLVER_EIG_MODE_VECTOR, ranges[way],
                                           CUBLAS_FILL_MODE_LOWER, n, t, v.device, ld, &low, &high,
                                           4, 6, &found, r, w.device, t, NULL, 0, NULL, 0, info));
        v.get();
        w.get();
        if (way == 0)
            all = w;
        good = good && found == (way == 0 ? n : way == 1 ? 3 : 4);
        for (int j = 0; j < found && good; j++) {
            good = w.at(j, 0) == all.at(j + (way ? 3 : 0), 0);
            for (int i = 0; i < n; i++)
                want.at(i, j) = v.at(i, j) * T(w.at(j, 0));
        }
        say<T>(way == 0   ? "every eigenvalue"
               : way == 1 ? "some by number"
                          : "some by value",
               good && off(a, v, want, (int)found) < bound<T>());
    }
}

// a x = w b x
static void pairs()
{
    const int n = 9;
    Matrix<float> a(n, n, n), b(n, n, n), v(n, n, n), f(n, n, n), w(n, 1, n), left(n, n, n),
        right(n, n, n);
    a.hermitian(2);
    b.hermitian(30);
    for (int some = 0; some < 2; some++) {
        int found = n;
        v = a;
        f = b;
        bool good = some
                        ? done(cusolverDnSsygvdx(handle, CUSOLVER_EIG_TYPE_1,
                                                 CUSOLVER_EIG_MODE_VECTOR, CUSOLVER_EIG_RANGE_I,
                                                 CUBLAS_FILL_MODE_UPPER, n, v.device, n, f.device,
                                                 n, 0, 0, 2, 5, &found, w.device, NULL, 0, info))
                        : done(cusolverDnSsygvd(handle, CUSOLVER_EIG_TYPE_1,
                                                CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_UPPER, n,
                                                v.device, n, f.device, n, w.device, NULL, 0, info));
        v.get();
        w.get();
        for (int j = 0; j < found; j++)
            for (int i = 0; i < n; i++) {
                right.at(i, j) = v.at(i, j) * w.at(j, 0);
                left.at(i, j) = 0;
                for (int k = 0; k < n; k++)
                    left.at(i, j) += a.at(i, k) * v.at(k, j);
            }
        good = good && found == (some ? 4 : n);
        say<float>(some ? "some of a pair" : "pairs", good && off(b, right, left, found) < 1e-3);
    }

    Matrix<float> inverse(n, n, n), one(n, n, n);
    inverse = b;
    bool good =
        done(cusolverDnXpotrf(handle, params, CUBLAS_FILL_MODE_LOWER, n, CUDA_R_32F, inverse.device,
                              n, CUDA_R_32F, NULL, 0, NULL, 0, info)) &&
        done(cusolverDnSpotri(handle, CUBLAS_FILL_MODE_LOWER, n, inverse.device, n, NULL, 0, info));
    inverse.get();
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            one.at(i, j) = i == j;
            if (i < j) // only the lower half was written
                inverse.at(i, j) = inverse.at(j, i);
        }
    for (int j = 0; j < n; j++)
        for (int i = 0; i < j; i++)
            inverse.at(i, j) = inverse.at(j, i);
    say<float>("potri", good && off(b, inverse, one, n) < 1e-4);
}

static void refusals()
{
    float *a;
    int64_t found;
    cudaMalloc(&a, 400);
    cudaMemset(info, 0, sizeof *info);
    bool good =
        cusolverDnXpotrf(handle, params, CUBLAS_FILL_MODE_LOWER, 9, CUDA_R_16F, a, 9, CUDA_R_16F,
                         NULL, 0, NULL, 0, info) == CUSOLVER_STATUS_INVALID_VALUE &&
        cusolverDnXpotrf(handle, params, CUBLAS_FILL_MODE_LOWER, 9, CUDA_R_32F, a, 8, CUDA_R_32F,
                         NULL, 0, NULL, 0, info) == CUSOLVER_STATUS_INVALID_VALUE &&
        cusolverDnXsyevdx(handle, params, CUSOLVER_EIG_MODE_VECTOR, CUSOLVER_EIG_RANGE_I,
                          CUBLAS_FILL_MODE_LOWER, 5, CUDA_R_32F, a, 5, NULL, NULL, 3, 6, &found,
                          CUDA_R_32F, a, CUDA_R_32F, NULL, 0, NULL, 0,
                          info) == CUSOLVER_STATUS_INVALID_VALUE;
    say<float>("refusals", good);
    cudaFree(a);
}

int main()
{
    if (cusolverDnCreate(&handle) != CUSOLVER_STATUS_SUCCESS)
        return printf("wrong cusolverDnCreate\n"), 1;
    cusolverDnCreateParams(&params);
    cudaMalloc(&info, sizeof *info);
    systems<float>();
    systems<Z>();
    singular<float>();
    singular<Z>();
    spectra<float>();
    spectra<Z>();
    pairs();
    refusals();
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
