// legacy.cu: cuBLAS's calls of before CUDA 4 (cublas.h) on a simulated GPU, against plain loops.
// Prints "ok NAME" or "wrong NAME".
//   nvcc legacy.cu -lcublas && lockstep run ./a.out
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cublas.h>
#include <cuda_runtime.h>

static int wrong;

static void say(const char *name, bool good)
{
    good = good && cublasGetError() == CUBLAS_STATUS_SUCCESS;
    printf("%s %s\n", good ? "ok" : "wrong", name);
    wrong += !good;
}

// A matrix, columns first, on both sides.
struct Matrix {
    int rows, cols;
    std::vector<double> values;
    double *device = NULL;
    Matrix(int rows, int cols, int seed) : rows(rows), cols(cols), values((size_t)rows * cols)
    {
        for (size_t i = 0; i < values.size(); i++)
            values[i] = (double)((i * 7 + seed) % 11) - 5;
        cublasAlloc(rows * cols, sizeof(double), (void **)&device);
        cublasSetMatrix(rows, cols, sizeof(double), values.data(), rows, device, rows);
    }
    ~Matrix()
    {
        cublasFree(device);
    }
    double operator()(int i, int j) const
    {
        return values[(size_t)j * rows + i];
    }
    Matrix &get()
    {
        cublasGetMatrix(rows, cols, sizeof(double), device, rows, values.data(), rows);
        return *this;
    }
    Matrix(const Matrix &) = delete;
};

static void products()
{
    const int m = 6, n = 5, k = 7;
    Matrix a(k, m, 1), b(k, n, 2), c(m, n, 3), before(m, n, 3);
    cublasDgemm('t', 'N', m, n, k, 2, a.device, k, b.device, k, -1, c.device, m);
    c.get();
    bool good = true;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            double sum = 0;
            for (int l = 0; l < k; l++)
                sum += a(l, i) * b(l, j);
            good = good && c(i, j) == 2 * sum - before(i, j);
        }
    say("gemm", good);

    Matrix x(m, 1, 4), y(n, 1, 5), old(n, 1, 5);
    cublasDgemv('T', m, n, 3, c.device, m, x.device, 1, 1, y.device, 1);
    y.get();
    good = true;
    for (int j = 0; j < n; j++) {
        double sum = old(j, 0);
        for (int i = 0; i < m; i++)
            sum += 3 * c(i, j) * x(i, 0);
        good = good && y(j, 0) == sum;
    }
    say("gemv", good);

    Matrix t(m, m, 6), s(m, n, 7), right(m, n, 7);
    cublasDtrmm('L', 'U', 'N', 'U', m, n, 1, t.device, m, s.device, m);
    s.get();
    good = true;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            double sum = right(i, j);
            for (int l = i + 1; l < m; l++)
                sum += t(i, l) * right(l, j);
            good = good && s(i, j) == sum;
        }
    cublasDtrsm('L', 'U', 'N', 'U', m, n, 1, t.device, m, s.device, m); // and back
    s.get();
    for (size_t i = 0; i < s.values.size(); i++)
        good = good && std::fabs(s.values[i] - right.values[i]) < 1e-9;
    say("trmm and trsm", good);
}

static void vectors()
{
    const int n = 12;
    Matrix x(n, 1, 1), y(n, 1, 3);
    double dot = 0, size = 0;
    int place = 1;
    for (int i = 0; i < n; i++) {
        dot += x(i, 0) * y(i, 0);
        size += std::fabs(x(i, 0));
        if (std::fabs(x(i, 0)) > std::fabs(x(place - 1, 0)))
            place = i + 1;
    }
    say("sums", cublasDdot(n, x.device, 1, y.device, 1) == dot &&
                    cublasDasum(n, x.device, 1) == size && cublasIdamax(n, x.device, 1) == place);
    cuDoubleComplex pairs =
        cublasZdotc(n / 2, (cuDoubleComplex *)x.device, 1, (cuDoubleComplex *)y.device, 1);
    double re = 0, im = 0;
    for (int i = 0; i < n; i += 2) {
        re += x(i, 0) * y(i, 0) + x(i + 1, 0) * y(i + 1, 0);
        im += x(i, 0) * y(i + 1, 0) - x(i + 1, 0) * y(i, 0);
    }
    say("a complex result", pairs.x == re && pairs.y == im);
    cuDoubleComplex factor = make_cuDoubleComplex(0, 2); // turns by a quarter
    cublasZscal(n / 2, factor, (cuDoubleComplex *)x.device, 1);
    Matrix was(n, 1, 1);
    x.get();
    bool good = true;
    for (int i = 0; i < n; i += 2)
        good = good && x(i, 0) == -2 * was(i + 1, 0) && x(i + 1, 0) == 2 * was(i, 0);
    say("a complex factor", good);
}

int main()
{
    if (cublasInit() != CUBLAS_STATUS_SUCCESS)
        return printf("wrong cublasInit\n"), 1;
    products();
    vectors();
    cublasDgemm('x', 'N', 1, 1, 1, 1, NULL, 1, NULL, 1, 1, NULL, 1);
    bool refused = cublasGetError() == CUBLAS_STATUS_INVALID_VALUE;
    say("a letter that is none", refused);
    say("shutdown", cublasShutdown() == CUBLAS_STATUS_SUCCESS);
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
