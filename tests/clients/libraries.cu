// libraries.cu: cuBLAS, cuBLASLt, cuSOLVER, cuRAND and cuFFT on a simulated GPU against plain
// loops, in a program that plain nvcc builds: with the CUDA runtime linked into it. Prints "ok
// NAME" or "wrong NAME".
//   nvcc libraries.cu -lcublas -lcublasLt -lcusolver -lcusparse -lcurand -lcufft && lockstep run
//   ./a.out
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstring>
#include <vector>

#include <cublas_v2.h>
#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cufft.h>
#include <curand.h>
#include <curand_kernel.h>
#include <cusolverDn.h>
#include <cusolverSp.h>

template <typename T> struct Device { // a vector on the GPU
    T *data;
    size_t count;
    Device(const std::vector<T> &from) : count(from.size())
    {
        cudaMalloc(&data, count * sizeof(T));
        cudaMemcpy(data, from.data(), count * sizeof(T), cudaMemcpyHostToDevice);
    }
    explicit Device(int n) : count(n)
    {
        cudaMalloc(&data, count * sizeof(T));
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

static int wrong;

static void say(const char *name, bool good)
{
    printf("%s %s\n", good ? "ok" : "wrong", name);
    wrong += !good;
}

// Small numbers that floats, halves and their sums hold exactly.
template <typename T> static std::vector<T> numbers(size_t n, int seed)
{
    std::vector<T> v(n);
    for (size_t i = 0; i < n; i++)
        v[i] = T(float((i * 7 + seed) % 11) - 5);
    return v;
}

template <typename T>
static bool near(const std::vector<T> &a, const std::vector<T> &b, double bound)
{
    double error = 0;
    for (size_t i = 0; i < a.size(); i++)
        error = std::max(error, double(std::abs(a[i] - b[i])));
    return a.size() == b.size() && error <= bound;
}

static cublasHandle_t blas;

static void level1()
{
    const int n = 100;
    auto x = numbers<float>(n, 1), y = numbers<float>(n, 3);
    Device<float> X(x), Y(y), R(1);
    float two = 2, dot, norm, sum, want_dot = 0, want_sum = 0, want_norm = 0;
    int place, want_place = 0;
    for (int i = 0; i < n; i++) {
        want_dot += x[i] * y[i];
        want_sum += std::abs(x[i]);
        want_norm += x[i] * x[i];
        if (std::abs(x[i]) > std::abs(x[want_place]))
            want_place = i;
    }
    cublasSdot(blas, n, X.data, 1, Y.data, 1, &dot);
    cublasSasum(blas, n, X.data, 1, &sum);
    cublasSnrm2(blas, n, X.data, 1, &norm);
    cublasIsamax(blas, n, X.data, 1, &place);
    say("dot, asum, nrm2, amax", dot == want_dot && sum == want_sum && place == want_place + 1 &&
                                     std::abs(norm - std::sqrt(want_norm)) < 1e-4f);
    cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_DEVICE);
    cublasSdot(blas, n / 2, X.data, 2, Y.data, 2, R.data);
    cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_HOST);
    want_dot = 0;
    for (int i = 0; i < n; i += 2)
        want_dot += x[i] * y[i];
    say("dot to device memory, by twos", R.get()[0] == want_dot);
    cublasSaxpy(blas, n, &two, X.data, 1, Y.data, 1);
    cublasSscal(blas, n, &two, X.data, 1);
    for (int i = 0; i < n; i++)
        y[i] += 2 * x[i], x[i] *= 2;
    say("axpy, scal", near(Y.get(), y, 0) && near(X.get(), x, 0));
}

static void level2()
{
    const int m = 9, n = 5;
    auto a = numbers<double>(m * n, 2), x = numbers<double>(n, 1), y = numbers<double>(m, 4);
    Device<double> A(a), X(x), Y(y);
    double one = 1, two = 2;
    cublasDgemv(blas, CUBLAS_OP_N, m, n, &two, A.data, m, X.data, 1, &one, Y.data, 1);
    cublasDger(blas, m, n, &one, Y.data, 1, X.data, 1, A.data, m);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            y[i] += 2 * a[j * m + i] * x[j];
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            a[j * m + i] += y[i] * x[j];
    say("gemv, ger", near(Y.get(), y, 0) && near(A.get(), a, 0));
}

// c = op(a) op(b) in double; a and b by column
template <typename T>
static std::vector<double> product(const std::vector<T> &a, const std::vector<T> &b, int m, int n,
                                   int k, bool ta, bool tb)
{
    std::vector<double> c(m * n);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            for (int l = 0; l < k; l++)
                c[j * m + i] += double(float(ta ? a[i * k + l] : a[l * m + i])) *
                                double(float(tb ? b[l * n + j] : b[j * k + l]));
    return c;
}

template <typename In, typename Out, typename Scale>
static void typed(const char *name, cudaDataType in, cudaDataType out, cublasComputeType_t compute)
{
    const int m = 13, n = 7, k = 17;
    auto a = numbers<In>(m * k, 1), b = numbers<In>(k * n, 2);
    Device<In> A(a), B(b);
    Device<Out> C(m * n);
    Scale one = Scale(1), zero = Scale(0);
    int status = cublasGemmEx(blas, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &one, A.data, in, k, B.data,
                              in, k, &zero, C.data, out, m, compute, CUBLAS_GEMM_DEFAULT);
    auto want = product(a, b, m, n, k, true, false);
    auto got = C.get();
    bool same = status == 0;
    for (int i = 0; i < m * n; i++)
        same &= double(float(got[i])) == double(float(Out(float(want[i]))));
    say(name, same);
}

static void level3()
{
    const int m = 8, n = 6, batch = 3;
    auto a = numbers<float>(m * m * batch, 1), b = numbers<float>(m * n * batch, 2);
    Device<float> A(a), B(b), C(m * n * batch);
    float one = 1, zero = 0;
    std::vector<float> want, got;
    for (int i = 0; i < batch; i++)
        for (double v :
             product(std::vector<float>(a.begin() + i * m * m, a.begin() + (i + 1) * m * m),
                     std::vector<float>(b.begin() + i * m * n, b.begin() + (i + 1) * m * n), m, n,
                     m, false, false))
            want.push_back(float(v));
    cublasSgemmStridedBatched(blas, CUBLAS_OP_N, CUBLAS_OP_N, m, n, m, &one, A.data, m, m * m,
                              B.data, m, m * n, &zero, C.data, m, m * n, batch);
    say("gemmStridedBatched", near(C.get(), want, 0));
    std::vector<float *> pa, pb, pc;
    for (int i = 0; i < batch; i++)
        pa.push_back(A.data + i * m * m), pb.push_back(B.data + i * m * n),
            pc.push_back(C.data + i * m * n);
    Device<float *> PA(pa), PB(pb), PC(pc);
    cudaMemset(C.data, 0, m * n * batch * 4);
    cublasSgemmBatched(blas, CUBLAS_OP_N, CUBLAS_OP_N, m, n, m, &one, PA.data, m, PB.data, m, &zero,
                       PC.data, m, batch);
    say("gemmBatched", near(C.get(), want, 0));
    for (int i = 0; i < m; i++)
        a[i * m + i] = 16; // well conditioned
    Device<float> L(a), X(b);
    cublasStrsm(blas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT,
                m, n, &one, L.data, m, X.data, m);
    cublasStrmm(blas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT,
                m, n, &one, L.data, m, X.data, m, C.data, m);
    got = C.get();
    got.resize(m * n);
    b.resize(m * n);
    say("trsm and back by trmm", near(got, b, 1e-5));
}

static void lt()
{
    const int m = 8, n = 4, k = 16;
    auto a = numbers<__half>(m * k, 1), b = numbers<__half>(k * n, 2), bias = numbers<__half>(m, 5);
    Device<__half> A(a), B(b), D(m * n), Bias(bias);
    cublasLtHandle_t handle;
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t la, lb, ld;
    cublasLtCreate(&handle);
    cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
    cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
    cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &Bias.data,
                                   sizeof Bias.data);
    cublasLtMatrixLayoutCreate(&la, CUDA_R_16F, m, k, m);
    cublasLtMatrixLayoutCreate(&lb, CUDA_R_16F, k, n, k);
    cublasLtMatrixLayoutCreate(&ld, CUDA_R_16F, m, n, m);
    float one = 1, zero = 0;
    int status = cublasLtMatmul(handle, desc, &one, A.data, la, B.data, lb, &zero, D.data, ld,
                                D.data, ld, nullptr, nullptr, 0, 0);
    auto want = product(a, b, m, n, k, false, false);
    auto got = D.get();
    bool same = status == 0;
    for (int i = 0; i < m * n; i++)
        same &= float(got[i]) == float(std::max(0.0, want[i] + double(float(bias[i % m]))));
    say("Lt matmul, bias, ReLU", same);
    cublasLtDestroy(handle);
}

// A system with a known solution, by LU; and eigenvalues of a matrix whose sum is its trace.
static void solver()
{
    const int n = 6;
    auto a = numbers<double>(n * n, 1), x = numbers<double>(n, 2);
    std::vector<double> b(n), symmetric(n * n);
    double trace = 0, sum = 0;
    for (int i = 0; i < n; i++)
        a[i * n + i] += 20;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            b[i] += a[j * n + i] * x[j];
            symmetric[j * n + i] = a[j * n + i] + a[i * n + j];
        }
    for (int i = 0; i < n; i++)
        trace += symmetric[i * n + i];
    Device<double> A(a), B(b), S(symmetric), W(n), Work(64);
    Device<int> pivots(n), info(1);
    cusolverDnHandle_t handle;
    cusolverDnCreate(&handle);
    cusolverDnDgetrf(handle, n, n, A.data, n, Work.data, pivots.data, info.data);
    cusolverDnDgetrs(handle, CUBLAS_OP_N, n, 1, A.data, n, pivots.data, B.data, n, info.data);
    cusolverDnDsyevd(handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n, S.data, n, W.data,
                     Work.data, 64, info.data);
    for (double v : W.get())
        sum += v;
    say("getrf and getrs, syevd", near(B.get(), x, 1e-12) && std::abs(sum - trace) < 1e-10);
    cusolverDnDestroy(handle);
}

// Eigenvectors of a matrix that turns, and a chain of springs, as a sparse system.
static void general()
{
    const int n = 3;
    typedef std::complex<double> number;
    const std::vector<double> turn = {0, 1, 0, -1, 0, 0, 0, 0, 3};
    Device<double> A(turn), V(n * n), work(16);
    Device<number> W(n);
    Device<int> info(1);
    cusolverDnHandle_t dense;
    cusolverSpHandle_t sparse;
    cusparseMatDescr_t kind;
    cusolverDnCreate(&dense);
    cusolverSpCreate(&sparse);
    cusparseCreateMatDescr(&kind);
    char host[16];
    cusolverDnXgeev(dense, nullptr, CUSOLVER_EIG_MODE_NOVECTOR, CUSOLVER_EIG_MODE_VECTOR, n,
                    CUDA_R_64F, A.data, n, CUDA_C_64F, W.data, CUDA_R_64F, nullptr, n, CUDA_R_64F,
                    V.data, n, CUDA_R_64F, work.data, 16, host, 16, info.data);
    auto w = W.get();
    double sum = 0;
    for (number value : w)
        sum += std::abs(value * value * value * value); // of i, -i and 3
    say("eigenvalues of a general matrix", std::abs(sum - 83) < 1e-10);

    std::vector<double> values, b(4, 1);
    std::vector<int> ends = {0}, columns;
    for (int i = 0; i < 4; i++) {
        for (int j = std::max(i - 1, 0); j <= std::min(i + 1, 3); j++)
            columns.push_back(j), values.push_back(i == j ? 2 : -1);
        ends.push_back((int)columns.size());
    }
    Device<double> a(values), right(b), x(4);
    Device<int> rows(ends), places(columns);
    int singular = -2;
    cusolverSpDcsrlsvqr(sparse, 4, (int)values.size(), kind, a.data, rows.data, places.data,
                        right.data, 1e-12, 0, x.data, &singular);
    say("a sparse system", singular == -1 && near(x.get(), {2, 3, 3, 2}, 1e-12));
    std::vector<double> lower = values, found(4);
    for (size_t k = 0, row = 0; k < lower.size(); k++) {
        row += (int)k >= ends[row + 1];
        lower[k] = columns[k] > (int)row ? 99 : lower[k]; // is not read
    }
    cusolverSpDcsrlsvcholHost(sparse, 4, (int)lower.size(), kind, lower.data(), ends.data(),
                              columns.data(), b.data(), 1e-12, 0, found.data(), &singular);
    say("half of a symmetric one", singular == -1 && near(found, {2, 3, 3, 2}, 1e-12));
    std::fill(lower.begin(), lower.end(), 0.0);
    cusolverSpDcsrlsvqrHost(sparse, 4, (int)lower.size(), kind, lower.data(), ends.data(),
                            columns.data(), b.data(), 1e-12, 0, found.data(), &singular);
    say("a singular one", singular == 0);
    cusparseDestroyMatDescr(kind);
    cusolverSpDestroy(sparse);
    cusolverDnDestroy(dense);
}

// U S V^H gives the matrices back, which are wider than high and complex; so do eigenvectors.
static void jacobi()
{
    typedef std::complex<double> number;
    const int m = 3, n = 5, some = 3, count = 2;
    std::vector<number> a(count * m * n), symmetric(count * m * m);
    for (size_t i = 0; i < a.size(); i++)
        a[i] = number(double(i * 7 % 11) - 5, double(i * 5 % 13) - 6);
    for (int k = 0; k < count; k++)
        for (int i = 0; i < m; i++)
            for (int j = 0; j < m; j++)
                symmetric[k * m * m + j * m + i] =
                    a[k * m * n + j * m + i] + std::conj(a[k * m * n + i * m + j]);
    Device<number> A(a), U(count * m * m), V(count * n * n), S(symmetric), work(1);
    Device<double> values(count * some), eigen(count * m);
    Device<int> infos(count);
    auto raw = [](Device<number> &d) { return (cuDoubleComplex *)d.data; };
    cusolverDnHandle_t handle;
    gesvdjInfo_t svd;
    syevjInfo_t eig;
    cusolverDnCreate(&handle);
    cusolverDnCreateGesvdjInfo(&svd);
    cusolverDnCreateSyevjInfo(&eig);
    double error = 0;
    for (int batched = 0; batched < 2; batched++) {
        cudaMemcpy(A.data, a.data(), a.size() * sizeof a[0], cudaMemcpyHostToDevice);
        int rows = batched ? n : some; // columns of V
        if (batched)
            cusolverDnZgesvdjBatched(handle, CUSOLVER_EIG_MODE_VECTOR, m, n, raw(A), m, values.data,
                                     raw(U), m, raw(V), n, raw(work), 1, infos.data, svd, count);
        else
            cusolverDnZgesvdj(handle, CUSOLVER_EIG_MODE_VECTOR, 1, m, n, raw(A), m, values.data,
                              raw(U), m, raw(V), n, raw(work), 1, infos.data, svd);
        auto u = U.get(), v = V.get();
        auto s = values.get();
        for (int k = 0; k < (batched ? count : 1); k++)
            for (int i = 0; i < m; i++)
                for (int j = 0; j < n; j++) {
                    number sum = 0;
                    for (int l = 0; l < some; l++)
                        sum += u[k * m * m + l * m + i] * s[k * some + l] *
                               std::conj(v[k * n * rows + l * n + j]);
                    error = std::max(error, std::abs(sum - a[k * m * n + j * m + i]));
                }
    }
    say("gesvdj and gesvdjBatched", error < 1e-13);
    cusolverDnZheevjBatched(handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, m, raw(S), m,
                            eigen.data, raw(work), 1, infos.data, eig, count);
    auto q = S.get();
    auto w = eigen.get();
    error = 0;
    for (int k = 0; k < count; k++)
        for (int i = 0; i < m; i++)
            for (int j = 0; j < m; j++) {
                number sum = 0;
                for (int l = 0; l < m; l++)
                    sum += q[k * m * m + l * m + i] * w[k * m + l] *
                           std::conj(q[k * m * m + l * m + j]);
                error = std::max(error, std::abs(sum - symmetric[k * m * m + j * m + i]));
            }
    say("heevjBatched", error < 1e-13);
    cusolverDnDestroyGesvdjInfo(svd);
    cusolverDnDestroySyevjInfo(eig);
    cusolverDnDestroy(handle);
}

// A rotation that turns (3, 4) into (5, 0), and a modified one that makes the second number 0.
static void rotations()
{
    double a = 3, b = 4, c, s, d1 = 2, d2 = 3, x1 = 5, y1 = 7, parameters[5];
    cublasDrotg(blas, &a, &b, &c, &s);
    cublasDrotmg(blas, &d1, &d2, &x1, &y1, parameters);
    Device<double> x(std::vector<double>{5, 5}), y(std::vector<double>{7, 7});
    cublasDrotm(blas, 2, x.data, 1, y.data, 1, parameters);
    say("rotg, rotmg, rotm", near(std::vector<double>{a, c, s}, {5, 0.6, 0.8}, 1e-15) &&
                                 near(y.get(), {0, 0}, 1e-14) && near(x.get(), {x1, x1}, 1e-14));
}

__global__ void twice(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= 2;
}

// Kernels and calls take turns in a stream; then the same from a graph, three times.
static void order()
{
    const int n = 64;
    auto x = numbers<float>(n, 1);
    Device<float> X(x);
    float two = 2;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t runs;
    cudaStreamCreate(&stream);
    cublasSetStream(blas, stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    twice<<<1, n, 0, stream>>>(X.data, n);
    cublasSaxpy(blas, n, &two, X.data, 1, X.data, 1);
    twice<<<1, n, 0, stream>>>(X.data, n);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&runs, graph, 0);
    for (int i = 0; i < 3; i++)
        cudaGraphLaunch(runs, stream);
    cudaStreamSynchronize(stream);
    for (float &v : x)
        v *= 12 * 12 * 12;
    say("order in a stream, and in a graph", near(X.get(), x, 0));
    cublasSetStream(blas, 0);
}

__global__ void by_device(unsigned *out)
{
    curandStateXORWOW_t state;
    curand_init(42, threadIdx.x, 0, &state);
    out[threadIdx.x] = curand(&state);
}

static void random_numbers()
{
    const int n = 256;
    Device<unsigned> host_api(n), device_api(n);
    curandGenerator_t generator;
    curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_XORWOW);
    curandSetPseudoRandomGeneratorSeed(generator, 42);
    curandGenerate(generator, host_api.data, n);
    by_device<<<1, n>>>(device_api.data);
    say("XORWOW, as curand_kernel.h has it", host_api.get() == device_api.get());
    Device<float> normal(10000);
    curandGenerateNormal(generator, normal.data, 10000, 3, 2);
    double sum = 0;
    for (float v : normal.get())
        sum += v;
    say("normal", std::abs(sum / 10000 - 3) < 0.1);
    curandDestroyGenerator(generator);
}

static void fourier()
{
    using complex = std::complex<float>;
    const int n = 12, batch = 2;
    std::vector<complex> x(n * batch), want(n * batch);
    for (int i = 0; i < n * batch; i++)
        x[i] = complex(float(i % 5), float(i % 3));
    for (int b = 0; b < batch; b++)
        for (int k = 0; k < n; k++)
            for (int i = 0; i < n; i++)
                want[b * n + k] += x[b * n + i] * std::polar(1.0f, float(-2 * M_PI * i * k / n));
    Device<complex> X(x);
    cufftHandle plan;
    cufftPlan1d(&plan, n, CUFFT_C2C, batch);
    cufftExecC2C(plan, (cufftComplex *)X.data, (cufftComplex *)X.data, CUFFT_FORWARD);
    say("C2C, in place, batched", near(X.get(), want, 1e-4));
    cufftExecC2C(plan, (cufftComplex *)X.data, (cufftComplex *)X.data, CUFFT_INVERSE);
    for (auto &v : x)
        v *= float(n);
    say("C2C and back", near(X.get(), x, 1e-3));
    cufftDestroy(plan);
    const int rows = 4, columns = 6;
    auto real = numbers<double>(rows * columns, 1);
    Device<double> R(real);
    Device<std::complex<double>> H(rows * (columns / 2 + 1));
    cufftHandle there, back;
    cufftPlan2d(&there, rows, columns, CUFFT_D2Z);
    cufftPlan2d(&back, rows, columns, CUFFT_Z2D);
    cufftExecD2Z(there, R.data, (cufftDoubleComplex *)H.data);
    double sum = 0;
    for (double v : real)
        sum += v;
    bool first = std::abs(H.get()[0] - sum) < 1e-12;
    cudaMemset(R.data, 0, rows * columns * 8);
    cufftExecZ2D(back, (cufftDoubleComplex *)H.data, R.data);
    for (double &v : real)
        v *= rows * columns;
    say("2D, D2Z and back", first && near(R.get(), real, 1e-12));
}

// The product reads past the end of its matrix: an error, as from a kernel.
static void beyond()
{
    Device<float> A(16), C(1024);
    float one = 1, zero = 0;
    cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, 32, 32, 32, &one, A.data, 32, C.data, 32, &zero,
                C.data, 32);
    say("leaving an allocation is an error", cudaDeviceSynchronize() == cudaErrorIllegalAddress);
}

int main()
{
    if (cublasCreate(&blas) != CUBLAS_STATUS_SUCCESS)
        return printf("wrong cublasCreate\n"), 1;
    level1();
    level2();
    level3();
    typed<float, float, float>("gemm of floats", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F);
    typed<double, double, double>("gemm of doubles", CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F);
    typed<__half, float, float>("gemm of halves into floats", CUDA_R_16F, CUDA_R_32F,
                                CUBLAS_COMPUTE_32F);
    typed<__nv_bfloat16, __nv_bfloat16, float>("gemm of bfloat16", CUDA_R_16BF, CUDA_R_16BF,
                                               CUBLAS_COMPUTE_32F);
    typed<signed char, int, int>("gemm of bytes into integers", CUDA_R_8I, CUDA_R_32I,
                                 CUBLAS_COMPUTE_32I);
    lt();
    solver();
    general();
    jacobi();
    rotations();
    order();
    random_numbers();
    fourier();
    beyond();
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
