// xt.cu: cublasXt on a simulated GPU, with matrices of the host and of the GPU, against plain
// loops. Prints "ok NAME" or "wrong NAME".
//   nvcc xt.cu -lcublas && lockstep run ./a.out
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cublasXt.h>

typedef std::complex<float> C;

static cublasXtHandle_t xt;
static int wrong;

static void say(const char *name, bool good)
{
    printf("%s %s\n", good ? "ok" : "wrong", name);
    wrong += !good;
}

template <typename T> struct Buffer { // of the host or of the GPU, columns first
    std::vector<T> values;
    T *device = NULL;
    Buffer(size_t count, int seed, bool on_gpu) : values(count)
    {
        for (size_t i = 0; i < count; i++)
            values[i] = T((float)((i * 7 + seed) % 13) - 6);
        if (on_gpu) {
            cudaMalloc(&device, count * sizeof(T));
            cudaMemcpy(device, values.data(), count * sizeof(T), cudaMemcpyHostToDevice);
        }
    }
    ~Buffer()
    {
        cudaFree(device);
    }
    T *data()
    {
        return device ? device : values.data();
    }
    void fetch()
    {
        if (device)
            cudaMemcpy(values.data(), device, values.size() * sizeof(T), cudaMemcpyDeviceToHost);
    }
};

static void gemm(bool on_gpu)
{
    const size_t m = 37, n = 21, k = 29, lda = 40, ldb = 25, ldc = 38;
    Buffer<float> a(lda * k, 1, on_gpu), b(ldb * k, 2, !on_gpu), c(ldc * n, 3, on_gpu);
    std::vector<float> before = c.values;
    float alpha = 2, beta = -1;
    bool good = cublasXtSgemm(xt, CUBLAS_OP_N, CUBLAS_OP_T, m, n, k, &alpha, a.data(), lda,
                              b.data(), ldb, &beta, c.data(), ldc) == CUBLAS_STATUS_SUCCESS;
    c.fetch(); // no synchronisation: the call has done it
    for (size_t j = 0; j < n && good; j++)
        for (size_t i = 0; i < ldc && good; i++) {
            float sum = 0;
            for (size_t l = 0; l < k && i < m; l++)
                sum += a.values[i + l * lda] * b.values[j + l * ldb];
            float old = before[i + j * ldc];
            good = c.values[i + j * ldc] == (i < m ? alpha * sum + beta * old : old);
        }
    say(on_gpu ? "gemm, two of the GPU" : "gemm, two of the host", good);
}

static void hermitian()
{
    const size_t n = 12, k = 5;
    Buffer<C> a(n * k, 1, false), c(n * n, 3, false);
    for (size_t i = 0; i < n * k; i++)
        a.values[i] = C(a.values[i].real(), (float)(i % 4));
    float alpha = 1, beta = 0;
    bool good =
        cublasXtCherk(xt, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, n, k, &alpha, (cuComplex *)a.data(),
                      n, &beta, (cuComplex *)c.data(), n) == CUBLAS_STATUS_SUCCESS;
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            C sum = 0;
            for (size_t l = 0; l < k; l++)
                sum += a.values[i + l * n] * std::conj(a.values[j + l * n]);
            good = good && std::abs(c.values[i + j * n] - sum) < 1e-3f;
        }
    say("herk", good);
}

static void triangular()
{
    const size_t m = 9, n = 4;
    Buffer<double> a(m * m, 1, true), b(m * n, 3, true);
    for (size_t i = 0; i < m; i++)
        a.values[i * m + i] = 8;
    cudaMemcpy(a.device, a.values.data(), m * m * sizeof(double), cudaMemcpyHostToDevice);
    std::vector<double> right = b.values;
    double alpha = 1;
    bool good = cublasXtDtrsm(xt, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N,
                              CUBLAS_DIAG_NON_UNIT, m, n, &alpha, a.data(), m, b.data(),
                              m) == CUBLAS_STATUS_SUCCESS;
    b.fetch();
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < m; i++) {
            double sum = 0;
            for (size_t l = i; l < m; l++)
                sum += a.values[i + l * m] * b.values[l + j * m];
            good = good && std::fabs(sum - right[i + j * m]) < 1e-9;
        }
    say("trsm", good);
}

static void settings()
{
    int block = 0, none[1] = {-1};
    float one = 1;
    cublasXtPinnedMemMode_t mode = CUBLASXT_PINNING_ENABLED;
    bool good = cublasXtSetBlockDim(xt, 64) == CUBLAS_STATUS_SUCCESS &&
                cublasXtGetBlockDim(xt, &block) == CUBLAS_STATUS_SUCCESS && block == 64 &&
                cublasXtSetBlockDim(xt, 0) == CUBLAS_STATUS_INVALID_VALUE &&
                cublasXtGetPinningMemMode(xt, &mode) == CUBLAS_STATUS_SUCCESS &&
                mode == CUBLASXT_PINNING_DISABLED &&
                cublasXtDeviceSelect(xt, 1, none) == CUBLAS_STATUS_INVALID_VALUE &&
                cublasXtSgemm(xt, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, NULL, &one, 1, &one, 1, &one,
                              &one, 1) == CUBLAS_STATUS_INVALID_VALUE;
    say("settings", good);
}

int main()
{
    int device = 0;
    if (cublasXtCreate(&xt) != CUBLAS_STATUS_SUCCESS ||
        cublasXtDeviceSelect(xt, 1, &device) != CUBLAS_STATUS_SUCCESS)
        return printf("wrong cublasXtCreate\n"), 1;
    gemm(false);
    gemm(true);
    hermitian();
    triangular();
    settings();
    say("destroy", cublasXtDestroy(xt) == CUBLAS_STATUS_SUCCESS);
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
