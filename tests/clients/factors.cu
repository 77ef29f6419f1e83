// factors.cu: cuSPARSE's incomplete factors on a simulated GPU, by what defines them: on the
// pattern of A, the product of the factors is A. Zero pivots, boosts, both index bases.
// Prints "ok NAME" or "wrong NAME".
//   nvcc factors.cu -lcusparse && lockstep run ./a.out
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuComplex.h>
#include <cusparse.h>

static cusparseHandle_t handle;
static int wrong;

static void say(const char *name, const char *type, bool good)
{
    printf("%s %s of %s\n", good ? "ok" : "wrong", name, type);
    wrong += !good;
}

static bool done(cusparseStatus_t status)
{
    if (status != CUSPARSE_STATUS_SUCCESS)
        printf("  %s\n", cusparseGetErrorName(status));
    return status == CUSPARSE_STATUS_SUCCESS;
}

template <typename T> static T *on_device(const std::vector<T> &from)
{
    T *data;
    cudaMalloc(&data, from.size() * sizeof(T) + 1);
    cudaMemcpy(data, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice);
    return data;
}

typedef std::complex<float> C;
typedef std::complex<double> Z;

// The calls of a type. c: the type as cuSPARSE's header has it.
template <typename T> struct Calls;
#define CALLS(T, X, c)                                                                             \
    template <> struct Calls<T> {                                                                  \
        static cusparseStatus_t lu(int n, int nnz, cusparseMatDescr_t d, T *v, int *r, int *k,     \
                                   csrilu02Info_t info, int step, int *size, void *buffer)         \
        {                                                                                          \
            cusparseSolvePolicy_t policy = CUSPARSE_SOLVE_POLICY_USE_LEVEL;                        \
            return step == 0   ? cusparse##X##csrilu02_bufferSize(handle, n, nnz, d, (c *)v, r, k, \
                                                                  info, size)                      \
                   : step == 1 ? cusparse##X##csrilu02_analysis(handle, n, nnz, d, (c *)v, r, k,   \
                                                                info, policy, buffer)              \
                               : cusparse##X##csrilu02(handle, n, nnz, d, (c *)v, r, k, info,      \
                                                       policy, buffer);                            \
        }                                                                                          \
        static cusparseStatus_t cholesky(int n, int nnz, cusparseMatDescr_t d, T *v, int *r,       \
                                         int *k, csric02Info_t info, int step, int *size,          \
                                         void *buffer)                                             \
        {                                                                                          \
            cusparseSolvePolicy_t policy = CUSPARSE_SOLVE_POLICY_NO_LEVEL;                         \
            return step == 0   ? cusparse##X##csric02_bufferSize(handle, n, nnz, d, (c *)v, r, k,  \
                                                                 info, size)                       \
                   : step == 1 ? cusparse##X##csric02_analysis(handle, n, nnz, d, (c *)v, r, k,    \
                                                               info, policy, buffer)               \
                               : cusparse##X##csric02(handle, n, nnz, d, (c *)v, r, k, info,       \
                                                      policy, buffer);                             \
        }                                                                                          \
        static cusparseStatus_t boost(csrilu02Info_t info, double *tolerance, T *value)            \
        {                                                                                          \
            return cusparse##X##csrilu02_numericBoost(handle, info, 1, tolerance, (c *)value);     \
        }                                                                                          \
    };
CALLS(float, S, float)
CALLS(double, D, double)
CALLS(C, C, cuComplex)
CALLS(Z, Z, cuDoubleComplex)

static float conjugate(float a)
{
    return a;
}
static double conjugate(double a)
{
    return a;
}
template <typename R> static std::complex<R> conjugate(std::complex<R> a)
{
    return std::conj(a);
}

template <typename T> static T number(int i, int j)
{
    return T((float)((i * 5 + j * 3) % 7 + 1) / 8);
}
template <> C number<C>(int i, int j)
{
    return C(number<float>(i, j), number<float>(j + 2, i) - 0.5f);
}
template <> Z number<Z>(int i, int j)
{
    return Z(number<double>(i, j), number<double>(j + 2, i) - 0.5);
}

// A band with holes, its diagonal large; hermitian on request. Rows are written backwards where
// `backwards` says so: columns need not be sorted.
template <typename T> struct Matrix {
    int n, base;
    std::vector<int> offsets, columns;
    std::vector<T> values, dense; // dense: [n][n]
    Matrix(int n, int base, bool hermitian, bool backwards) : n(n), base(base), dense((size_t)n * n)
    {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                if (i == j)
                    at(i, j) = T(9);
                else if (abs(i - j) == 1 || abs(i - j) == 4)
                    at(i, j) = hermitian && i < j ? conjugate(number<T>(j, i)) : number<T>(i, j);
        pack(backwards);
    }
    T &at(int i, int j)
    {
        return dense[(size_t)i * n + j];
    }
    void pack(bool backwards)
    {
        offsets = {base};
        columns.clear();
        values.clear();
        for (int i = 0; i < n; i++) {
            for (int step = 0; step < n; step++) {
                int j = backwards ? n - 1 - step : step;
                if (at(i, j) == T(0))
                    continue;
                columns.push_back(j + base);
                values.push_back(at(i, j));
            }
            offsets.push_back((int)columns.size() + base);
        }
    }
    void unpack(const std::vector<T> &from)
    {
        for (int i = 0; i < n; i++)
            for (int k = offsets[i] - base; k < offsets[i + 1] - base; k++)
                at(i, columns[k] - base) = from[k];
    }
};

// Runs the factorization; position: what the two questions for zero pivots answered.
template <typename T>
static bool factor(const Matrix<T> &a, bool lu, std::vector<T> *result, int position[2],
                   double tolerance, T boost)
{
    cusparseMatDescr_t description;
    csrilu02Info_t lu_info;
    csric02Info_t cholesky_info;
    cusparseCreateMatDescr(&description);
    cusparseSetMatIndexBase(description, (cusparseIndexBase_t)a.base);
    cusparseCreateCsrilu02Info(&lu_info);
    cusparseCreateCsric02Info(&cholesky_info);
    int *offsets = on_device(a.offsets), *columns = on_device(a.columns), size = -1;
    int count = (int)a.values.size();
    T *values = on_device(a.values);
    bool good = tolerance == 0 || done(Calls<T>::boost(lu_info, &tolerance, &boost));
    for (int step = 0; step < 3 && good; step++) {
        good = done(lu ? Calls<T>::lu(a.n, count, description, values, offsets, columns, lu_info,
                                      step, &size, NULL)
                       : Calls<T>::cholesky(a.n, count, description, values, offsets, columns,
                                            cholesky_info, step, &size, NULL));
        if (step == 0)
            continue;
        int *at = &position[step - 1];
        cusparseStatus_t status = lu ? cusparseXcsrilu02_zeroPivot(handle, lu_info, at)
                                     : cusparseXcsric02_zeroPivot(handle, cholesky_info, at);
        good = good && (status == CUSPARSE_STATUS_ZERO_PIVOT) == (*at != -1) &&
               (status == CUSPARSE_STATUS_SUCCESS) == (*at == -1);
    }
    result->resize(count);
    cudaMemcpy(result->data(), values, count * sizeof(T), cudaMemcpyDeviceToHost);
    cusparseDestroyCsrilu02Info(lu_info);
    cusparseDestroyCsric02Info(cholesky_info);
    cusparseDestroyMatDescr(description);
    cudaFree(values);
    cudaFree(offsets);
    cudaFree(columns);
    return good && size >= 0;
}

// The largest difference of the factors' product from A, where A has entries.
template <typename T> static double lu_error(const Matrix<T> &a, Matrix<T> f)
{
    double largest = 0;
    Matrix<T> of = a;
    for (int i = 0; i < a.n; i++)
        for (int j = 0; j < a.n; j++) {
            if (of.at(i, j) == T(0))
                continue;
            T sum = T(0);
            for (int k = 0; k <= i && k <= j; k++)
                sum += (k == i ? T(1) : f.at(i, k)) * f.at(k, j);
            largest = std::fmax(largest, std::abs(sum - of.at(i, j)));
        }
    return largest;
}

// Of the lower half; the upper one must be as it was.
template <typename T> static double cholesky_error(const Matrix<T> &a, Matrix<T> f)
{
    double largest = 0;
    Matrix<T> of = a;
    for (int i = 0; i < a.n; i++)
        for (int j = 0; j < a.n; j++) {
            if (of.at(i, j) == T(0))
                continue;
            T sum = T(0);
            for (int k = 0; k <= j && j <= i; k++)
                sum += f.at(i, k) * conjugate(f.at(j, k));
            if (j > i)
                sum = f.at(i, j);
            largest = std::fmax(largest, std::abs(sum - of.at(i, j)));
        }
    return largest;
}

template <typename T> static void factors(const char *type, double bound)
{
    for (int way = 0; way < 8; way++) {
        bool lu = way & 1, backwards = way & 4;
        Matrix<T> a(23, way >> 1 & 1, !lu, backwards), f = a;
        std::vector<T> values;
        int position[2] = {7, 7};
        bool good = factor(a, lu, &values, position, 0, T(0));
        f.unpack(values);
        double error = lu ? lu_error(a, f) : cholesky_error(a, f);
        if (!(error <= bound))
            printf("  off by %g\n", error);
        say(lu ? "ilu0" : "ic0", type,
            good && error <= bound && values != a.values && position[0] == -1 && position[1] == -1);
    }
}

template <typename T> static void pivots(const char *type)
{
    for (int base = 0; base < 2; base++) {
        int position[2];
        std::vector<T> values;
        Matrix<T> a(6, base, false, false);
        a.at(3, 3) = T(0); // no entry: known from the pattern
        a.pack(false);
        bool good = factor(a, true, &values, position, 0, T(0));
        say("a missing pivot", type, good && position[0] == 3 + base && position[1] == 3 + base);

        Matrix<T> b(6, base, true, false);
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 6; j++)
                b.at(i, j) = i < 2 && j < 2 ? T(4) : i == j ? T(1) : T(0);
        b.pack(false); // rows 0 and 1 are the same: 4 - 4 is left
        good = factor(b, true, &values, position, 0, T(0));
        say("a pivot that becomes zero", type,
            good && position[0] == -1 && position[1] == 1 + base);
        good = factor(b, false, &values, position, 0, T(0));
        say("a root of zero", type, good && position[0] == -1 && position[1] == 1 + base);
        good = factor(b, true, &values, position, 1e-3, T(5));
        say("a boosted pivot", type,
            good && position[1] == -1 && std::abs(values[3] - T(5)) == 0 &&
                std::abs(values[0] - T(4)) == 0);
    }
}

static void refusals()
{
    csrilu02Info_t info;
    cusparseMatDescr_t description;
    int size, position;
    cusparseCreateCsrilu02Info(&info);
    cusparseCreateMatDescr(&description);
    bool good =
        cusparseScsrilu02_bufferSize(handle, 3, 3, description, NULL, NULL, NULL, info, NULL) ==
            CUSPARSE_STATUS_INVALID_VALUE &&
        cusparseScsrilu02_bufferSize(NULL, 3, 3, description, NULL, NULL, NULL, info, &size) ==
            CUSPARSE_STATUS_NOT_INITIALIZED &&
        cusparseXcsrilu02_zeroPivot(handle, NULL, &position) == CUSPARSE_STATUS_INVALID_VALUE &&
        cusparseScsrilu02_numericBoost(handle, info, 1, NULL, NULL) ==
            CUSPARSE_STATUS_INVALID_VALUE;
    cusparseDestroyCsrilu02Info(info);
    good = good &&
           cusparseXcsrilu02_zeroPivot(handle, info, &position) == CUSPARSE_STATUS_INVALID_VALUE;
    cusparseDestroyMatDescr(description);
    say("refusals", "every type", good);
}

int main()
{
    if (cusparseCreate(&handle) != CUSPARSE_STATUS_SUCCESS)
        return printf("wrong cusparseCreate\n"), 1;
    factors<float>("floats", 2e-6);
    factors<double>("doubles", 2e-15);
    factors<C>("complex", 2e-6);
    factors<Z>("double complex", 4e-15);
    pivots<float>("floats");
    pivots<Z>("double complex");
    refusals();
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
