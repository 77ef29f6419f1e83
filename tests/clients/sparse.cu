// sparse.cu: cuSPARSE on a simulated GPU against plain loops over the dense matrix, in a program
// that plain nvcc builds; and calls that must be refused. Prints "ok NAME" or "wrong NAME".
//   nvcc sparse.cu -lcusparse && lockstep run ./a.out
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cusparse.h>

typedef std::complex<float> C;

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

static cusparseHandle_t handle;
static int wrong;

static void say(const char *name, bool good)
{
    printf("%s %s\n", good ? "ok" : "wrong", name);
    wrong += !good;
}

static bool done(cusparseStatus_t status)
{
    if (status != CUSPARSE_STATUS_SUCCESS)
        printf("  %s\n", cusparseGetErrorName(status));
    return status == CUSPARSE_STATUS_SUCCESS;
}

// A sparse matrix with small whole numbers, dense and as CSR; row 2 is empty.
template <typename T, typename I = int> struct Matrix {
    int rows, cols;
    std::vector<T> dense; // [rows][cols]
    std::vector<I> offsets, columns;
    std::vector<T> values;
    Matrix(int rows, int cols, int seed) : rows(rows), cols(cols), dense(rows * cols)
    {
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < cols; j++)
                if (i != 2 && (i * 5 + j * 3 + seed) % 4 == 0)
                    dense[i * cols + j] = T(float((i + 2 * j + seed) % 7 - 2));
        pack();
    }
    void pack()
    {
        offsets = {0};
        columns.clear();
        values.clear();
        for (int i = 0; i < rows; i++) {
            for (int j = 0; j < cols; j++)
                if (dense[i * cols + j] != T(0)) {
                    columns.push_back(j);
                    values.push_back(dense[i * cols + j]);
                }
            offsets.push_back((I)columns.size());
        }
    }
};

template <typename T> static std::vector<T> numbers(size_t n, int seed)
{
    std::vector<T> v(n);
    for (size_t i = 0; i < n; i++)
        v[i] = T(float((i * 7 + seed) % 11) - 5);
    return v;
}

template <typename T> static bool same(const std::vector<T> &a, const std::vector<T> &b)
{
    bool good = a.size() == b.size();
    for (size_t i = 0; i < a.size() && good; i++)
        good = std::abs(a[i] - b[i]) <= 1e-5 * (1 + std::abs(b[i]));
    return good;
}

// What both sides of every product need: A on the GPU with its descriptor.
template <typename T, typename I> struct OnDevice {
    Device<I> offsets, columns;
    Device<T> values;
    cusparseSpMatDescr_t descriptor;
    OnDevice(const Matrix<T, I> &m, cudaDataType type)
        : offsets(m.offsets), columns(m.columns), values(m.values)
    {
        cusparseIndexType_t index = sizeof(I) == 8 ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
        cusparseCreateCsr(&descriptor, m.rows, m.cols, m.values.size(), offsets.data, columns.data,
                          values.data, index, index, CUSPARSE_INDEX_BASE_ZERO, type);
    }
    ~OnDevice()
    {
        cusparseDestroySpMat(descriptor);
    }
};

template <typename T, typename I> static void products(const char *name, cudaDataType type)
{
    const int m = 9, k = 7, n = 3;
    Matrix<T, I> a(m, k, 1);
    OnDevice<T, I> on(a, type);
    std::vector<T> x = numbers<T>(k, 3), y = numbers<T>(m, 5), want(m);
    T alpha = T(2), beta = T(3);
    for (int i = 0; i < m; i++) {
        T sum = T(0);
        for (int j = 0; j < k; j++)
            sum += a.dense[i * k + j] * x[j];
        want[i] = alpha * sum + beta * y[i];
    }
    Device<T> dx(x), dy(y);
    cusparseDnVecDescr_t vx, vy;
    cusparseCreateDnVec(&vx, k, dx.data, type);
    cusparseCreateDnVec(&vy, m, dy.data, type);
    size_t bytes = 0;
    bool good = done(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha,
                                             on.descriptor, vx, &beta, vy, type,
                                             CUSPARSE_SPMV_ALG_DEFAULT, &bytes)) &&
                done(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, on.descriptor,
                                  vx, &beta, vy, type, CUSPARSE_SPMV_ALG_DEFAULT, NULL));
    say(name, good && same(dy.get(), want));
    // C = A^T B, B by rows, C by columns.
    std::vector<T> b = numbers<T>(m * n, 2), c(k * n, T(9)), wanted(k * n);
    for (int i = 0; i < k; i++)
        for (int j = 0; j < n; j++) {
            T sum = T(0);
            for (int l = 0; l < m; l++)
                sum += a.dense[l * k + i] * b[l * n + j];
            wanted[j * k + i] = sum;
        }
    Device<T> db(b), dc(c);
    cusparseDnMatDescr_t mb, mc;
    cusparseCreateDnMat(&mb, m, n, n, db.data, type, CUSPARSE_ORDER_ROW);
    cusparseCreateDnMat(&mc, k, n, k, dc.data, type, CUSPARSE_ORDER_COL);
    T one = T(1), zero = T(0);
    good = done(cusparseSpMM(handle, CUSPARSE_OPERATION_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE,
                             &one, on.descriptor, mb, &zero, mc, type, CUSPARSE_SPMM_ALG_DEFAULT,
                             NULL));
    say("  transposed, times a matrix", good && same(dc.get(), wanted));
    cusparseDestroyDnVec(vx);
    cusparseDestroyDnVec(vy);
    cusparseDestroyDnMat(mb);
    cusparseDestroyDnMat(mc);
}

// Values of 16 bits, sums in floats.
template <typename T> static void halves(const char *name, cudaDataType type)
{
    Matrix<float> a(9, 7, 1);
    std::vector<float> x = numbers<float>(7, 3), want(9);
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 7; j++)
            want[i] += a.dense[i * 7 + j] * x[j];
    std::vector<T> values, narrow;
    for (float value : a.values)
        values.push_back(T(value));
    for (float value : x)
        narrow.push_back(T(value));
    Device<int> offsets(a.offsets), columns(a.columns);
    Device<T> on(values), dx(narrow), dy(std::vector<T>(9));
    cusparseSpMatDescr_t matrix;
    cusparseDnVecDescr_t vx, vy;
    cusparseCreateCsr(&matrix, 9, 7, values.size(), offsets.data, columns.data, on.data,
                      CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type);
    cusparseCreateDnVec(&vx, 7, dx.data, type);
    cusparseCreateDnVec(&vy, 9, dy.data, type);
    float one = 1, zero = 0;
    bool good = done(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, vx, &zero,
                                  vy, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, NULL));
    std::vector<float> got;
    for (T value : dy.get())
        got.push_back(float(value));
    say(name, good && same(got, want));
    cusparseDestroySpMat(matrix);
    cusparseDestroyDnVec(vx);
    cusparseDestroyDnVec(vy);
}

static void sparse_product()
{
    Matrix<float> a(9, 7, 1), b(7, 8, 3);
    OnDevice<float, int> da(a, CUDA_R_32F), db(b, CUDA_R_32F);
    Device<int> offsets(std::vector<int>(10));
    cusparseSpMatDescr_t c;
    cusparseCreateCsr(&c, 9, 8, 0, offsets.data, NULL, NULL, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                      CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
    cusparseSpGEMMDescr_t descriptor;
    cusparseSpGEMM_createDescr(&descriptor);
    float one = 1, zero = 0;
    size_t bytes;
    void *buffer;
    cudaMalloc(&buffer, 64);
    auto op = CUSPARSE_OPERATION_NON_TRANSPOSE;
    bool good = done(cusparseSpGEMM_workEstimation(
                    handle, op, op, &one, da.descriptor, db.descriptor, &zero, c, CUDA_R_32F,
                    CUSPARSE_SPGEMM_DEFAULT, descriptor, &bytes, NULL)) &&
                done(cusparseSpGEMM_compute(handle, op, op, &one, da.descriptor, db.descriptor,
                                            &zero, c, CUDA_R_32F, CUSPARSE_SPGEMM_DEFAULT,
                                            descriptor, &bytes, buffer));
    int64_t rows, cols, count;
    cusparseSpMatGetSize(c, &rows, &cols, &count);
    Device<int> columns((std::vector<int>(count)));
    Device<float> values((std::vector<float>(count)));
    cusparseCsrSetPointers(c, offsets.data, columns.data, values.data);
    good =
        good && done(cusparseSpGEMM_copy(handle, op, op, &one, da.descriptor, db.descriptor, &zero,
                                         c, CUDA_R_32F, CUSPARSE_SPGEMM_DEFAULT, descriptor));
    std::vector<float> dense(9 * 8), want(9 * 8);
    std::vector<int> begins = offsets.get(), places = columns.get();
    std::vector<float> got = values.get();
    for (int i = 0; i < 9 && good; i++)
        for (int k = begins[i]; k < begins[i + 1]; k++)
            dense[i * 8 + places[k]] = got[k];
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 8; j++)
            for (int k = 0; k < 7; k++)
                want[i * 8 + j] += a.dense[i * 7 + k] * b.dense[k * 8 + j];
    say("sparse times sparse", good && same(dense, want));
    cusparseSpGEMM_destroyDescr(descriptor);
    say("a destroyed descriptor",
        cusparseSpGEMM_copy(handle, op, op, &one, da.descriptor, db.descriptor, &zero, c,
                            CUDA_R_32F, CUSPARSE_SPGEMM_DEFAULT,
                            descriptor) == CUSPARSE_STATUS_INVALID_VALUE);
    cusparseDestroySpMat(c);
    cudaFree(buffer);
}

static void triangular()
{
    Matrix<double> a(6, 6, 1);
    for (int i = 0; i < 6; i++)
        a.dense[i * 6 + i] = 4 + i;
    a.pack();
    OnDevice<double, int> da(a, CUDA_R_64F);
    for (int upper = 0; upper < 2; upper++) {
        std::vector<double> x = numbers<double>(6, 1), b(6);
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 6; j++)
                if (upper ? j >= i : j <= i)
                    b[i] += a.dense[i * 6 + j] * x[j];
        cusparseFillMode_t fill = upper ? CUSPARSE_FILL_MODE_UPPER : CUSPARSE_FILL_MODE_LOWER;
        cusparseSpMatSetAttribute(da.descriptor, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill);
        Device<double> db(b), dx(std::vector<double>(6));
        cusparseDnVecDescr_t vb, vx;
        cusparseCreateDnVec(&vb, 6, db.data, CUDA_R_64F);
        cusparseCreateDnVec(&vx, 6, dx.data, CUDA_R_64F);
        cusparseSpSVDescr_t descriptor;
        cusparseSpSV_createDescr(&descriptor);
        double one = 1;
        bool good =
            done(cusparseSpSV_solve(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, da.descriptor,
                                    vb, vx, CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, descriptor));
        say(upper ? "upper triangle" : "lower triangle", good && same(dx.get(), x));
        cusparseSpSV_destroyDescr(descriptor);
        cusparseDestroyDnVec(vb);
        cusparseDestroyDnVec(vx);
    }
}

static void conversions()
{
    Matrix<float> a(5, 6, 2);
    OnDevice<float, int> da(a, CUDA_R_32F);
    int count = (int)a.values.size();
    Device<float> dense(std::vector<float>(30)), turned((std::vector<float>(count)));
    Device<int> starts(std::vector<int>(7)), rows((std::vector<int>(count)));
    cusparseDnMatDescr_t matrix;
    cusparseCreateDnMat(&matrix, 5, 6, 6, dense.data, CUDA_R_32F, CUSPARSE_ORDER_ROW);
    bool good = done(cusparseSparseToDense(handle, da.descriptor, matrix,
                                           CUSPARSE_SPARSETODENSE_ALG_DEFAULT, NULL));
    say("sparse to dense", good && same(dense.get(), a.dense));
    good = done(cusparseCsr2cscEx2(handle, 5, 6, count, da.values.data, da.offsets.data,
                                   da.columns.data, turned.data, starts.data, rows.data, CUDA_R_32F,
                                   CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO,
                                   CUSPARSE_CSR2CSC_ALG1, NULL));
    std::vector<int> begins = starts.get(), places = rows.get();
    std::vector<float> got = turned.get(), back(30);
    for (int j = 0; j < 6; j++)
        for (int k = begins[j]; k < begins[j + 1]; k++)
            back[places[k] * 6 + j] = got[k];
    say("CSR to CSC", good && same(back, a.dense));
    cusparseDestroyDnMat(matrix);
    std::vector<int> r = {2, 0, 2, 1, 0}, c = {1, 3, 0, 2, 1}, p = {0, 1, 2, 3, 4};
    Device<int> dr(r), dc(c), dp(p);
    good = done(cusparseXcoosortByRow(handle, 3, 4, 5, dr.data, dc.data, dp.data, NULL));
    say("sorting", good && dr.get() == std::vector<int>({0, 0, 1, 2, 2}) &&
                       dc.get() == std::vector<int>({1, 3, 2, 0, 1}) &&
                       dp.get() == std::vector<int>({4, 1, 3, 2, 0}));
}

// Products in streams and in a graph keep their order with copies.
static void order()
{
    Matrix<float> a(9, 7, 1);
    OnDevice<float, int> da(a, CUDA_R_32F);
    Device<float> x(numbers<float>(7, 1)), y(std::vector<float>(9));
    cusparseDnVecDescr_t vx, vy;
    cusparseCreateDnVec(&vx, 7, x.data, CUDA_R_32F);
    cusparseCreateDnVec(&vy, 9, y.data, CUDA_R_32F);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    float one = 1;
    cudaStreamCreate(&stream);
    cusparseSetStream(handle, stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    bool good = done(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, da.descriptor, vx,
                                  &one, vy, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, NULL));
    cudaStreamEndCapture(stream, &graph);
    cusparseDestroyDnVec(vx);
    cusparseDestroyDnVec(vy);
    cudaGraphInstantiate(&executable, graph, 0);
    for (int i = 0; i < 3; i++)
        cudaGraphLaunch(executable, stream);
    cudaStreamSynchronize(stream);
    std::vector<float> in = numbers<float>(7, 1), want(9);
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 7; j++)
            want[i] += 3 * a.dense[i * 7 + j] * in[j];
    say("three times in a graph", good && same(y.get(), want));
    cusparseSetStream(handle, 0);
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
}

// The last one ends the context.
static void refusals()
{
    Matrix<float> a(9, 7, 1);
    OnDevice<float, int> da(a, CUDA_R_32F);
    Device<float> x(numbers<float>(7, 1)), y(std::vector<float>(9));
    cusparseDnVecDescr_t vx, vy;
    cusparseCreateDnVec(&vx, 7, x.data, CUDA_R_32F);
    cusparseCreateDnVec(&vy, 9, y.data, CUDA_R_32F);
    float one = 1;
    auto multiply = [&](cusparseDnVecDescr_t to) {
        return cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, da.descriptor, vx, &one,
                            to, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, NULL);
    };
    say("sizes that differ", multiply(vx) == CUSPARSE_STATUS_INVALID_VALUE);
    say("no descriptor", multiply(NULL) == CUSPARSE_STATUS_INVALID_VALUE);
    say("any number",
        multiply((cusparseDnVecDescr_t)0x123456789abcdef0) == CUSPARSE_STATUS_INVALID_VALUE);
    say("one of another kind",
        multiply((cusparseDnVecDescr_t)da.descriptor) == CUSPARSE_STATUS_INVALID_VALUE);
    cusparseDestroyDnVec(vy);
    say("a destroyed vector", multiply(vy) == CUSPARSE_STATUS_INVALID_VALUE &&
                                  cusparseDestroyDnVec(vy) == CUSPARSE_STATUS_INVALID_VALUE);
    cusparseHandle_t other;
    cusparseCreate(&other);
    cusparseDestroy(other);
    say("a destroyed handle", cusparseSetStream(other, 0) == CUSPARSE_STATUS_NOT_INITIALIZED);
    cusparseCreateDnVec(&vy, 9, y.data, CUDA_R_32F);
    int far = 1000;
    cudaMemcpy(da.columns.data, &far, 4, cudaMemcpyHostToDevice);
    multiply(vy);
    say("a column outside", cudaDeviceSynchronize() == cudaErrorIllegalAddress);
}

int main()
{
    if (cusparseCreate(&handle) != CUSPARSE_STATUS_SUCCESS)
        return printf("wrong cusparseCreate\n"), 1;
    products<float, int>("floats", CUDA_R_32F);
    products<double, long long>("doubles, 64-bit indices", CUDA_R_64F);
    products<C, int>("complex", CUDA_C_32F);
    halves<__half>("halves", CUDA_R_16F);
    halves<__nv_bfloat16>("bfloat16", CUDA_R_16BF);
    sparse_product();
    triangular();
    conversions();
    order();
    refusals();
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
