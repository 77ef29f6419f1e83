// Sparse matrix times vector: CSR with a thread a row, CSR with a warp a row, ELL, COO with
// atomics; then a few conjugate gradient steps on a Laplacian in double with a fixed reduction
// tree.
// flags: -fmad=false

#include <cmath>
#include <cstdio>
#include <vector>

__global__ void csr_scalar(int rows, const int *ptr, const int *col, const float *val,
                           const float *x, float *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
    for (int i = ptr[row]; i < ptr[row + 1]; i++)
        sum += val[i] * x[col[i]];
    y[row] = sum;
}

__global__ void csr_vector(int rows, const int *ptr, const int *col, const float *val,
                           const float *x, float *y)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    float sum = 0;
    for (int i = ptr[row] + lane; i < ptr[row + 1]; i += 32)
        sum += val[i] * x[col[i]];
    for (int d = 16; d; d /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, d);
    if (lane == 0)
        y[row] = sum;
}

__global__ void ell(int rows, int width, const int *col, const float *val, const float *x, float *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
    for (int k = 0; k < width; k++) {
        int c = col[k * rows + row];
        if (c >= 0)
            sum += val[k * rows + row] * x[c];
    }
    y[row] = sum;
}

__global__ void coo(int entries, const int *row, const int *col, const float *val, const float *x,
                    float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < entries)
        atomicAdd(&y[row[i]], val[i] * x[col[i]]);
}

// Conjugate gradient, one block, for -u'' = f on n points.
__global__ void conjugate_gradient(const double *f, double *u, int n, int steps, double *residual)
{
    __shared__ double p[256], sums[256];
    int t = threadIdx.x;
    double r = t < n ? f[t] : 0, x = 0;
    p[t] = r;
    auto dot = [&](double value) {
        sums[t] = value;
        __syncthreads();
        for (int s = 128; s > 0; s >>= 1) {
            if (t < s)
                sums[t] += sums[t + s];
            __syncthreads();
        }
        double result = sums[0];
        __syncthreads();
        return result;
    };
    double rr = dot(r * r);
    for (int k = 0; k < steps; k++) {
        double ap = t < n ? 2 * p[t] - (t ? p[t - 1] : 0) - (t + 1 < n ? p[t + 1] : 0) : 0;
        double alpha = rr / dot(p[t] * ap);
        x += alpha * p[t];
        r -= alpha * ap;
        double next = dot(r * r);
        p[t] = r + next / rr * p[t];
        rr = next;
        __syncthreads();
        if (t == 0)
            residual[k] = rr;
    }
    if (t < n)
        u[t] = x;
}

template <class T> T *upload(const std::vector<T> &v)
{
    T *p;
    cudaMalloc(&p, v.size() * sizeof(T));
    cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
    return p;
}

int main()
{
    const int rows = 700;
    std::vector<int> ptr(1, 0), col, row_of;
    std::vector<float> val, x(rows), expected(rows, 0.0f), y(rows);
    size_t widest = 0;
    for (int i = 0; i < rows; i++) {
        x[i] = (float)(i % 13 - 6);
        int before = (int)col.size();
        for (int k = 0; k < 1 + i * i % 61; k++) {
            col.push_back((i * 31 + k * k * 17) % rows);
            val.push_back((float)((i + k) % 9 - 4));
            row_of.push_back(i);
        }
        ptr.push_back((int)col.size());
        widest = widest > col.size() - before ? widest : col.size() - before;
    }
    for (size_t i = 0; i < col.size(); i++)
        expected[row_of[i]] += val[i] * x[col[i]];
    std::vector<int> ell_col(widest * rows, -1);
    std::vector<float> ell_val(widest * rows, 0.0f);
    for (int i = 0; i < rows; i++)
        for (int k = ptr[i]; k < ptr[i + 1]; k++) {
            ell_col[(k - ptr[i]) * rows + i] = col[k];
            ell_val[(k - ptr[i]) * rows + i] = val[k];
        }
    int *dptr = upload(ptr), *dcol = upload(col), *drow = upload(row_of), *decol = upload(ell_col);
    float *dval = upload(val), *dx = upload(x), *dy = upload(y), *deval = upload(ell_val);
    const char *names[] = {"csr scalar", "csr vector", "ell", "coo"};
    for (int which = 0; which < 4; which++) {
        cudaMemset(dy, 0, rows * 4);
        if (which == 0)
            csr_scalar<<<(rows + 127) / 128, 128>>>(rows, dptr, dcol, dval, dx, dy);
        if (which == 1)
            csr_vector<<<(rows + 3) / 4, 128>>>(rows, dptr, dcol, dval, dx, dy);
        if (which == 2)
            ell<<<(rows + 127) / 128, 128>>>(rows, (int)widest, decol, deval, dx, dy);
        if (which == 3)
            coo<<<((int)col.size() + 255) / 256, 256>>>((int)col.size(), drow, dcol, dval, dx, dy);
        cudaMemcpy(y.data(), dy, rows * 4, cudaMemcpyDeviceToHost);
        printf("%-10s y[0]=%g y[1]=%g y[699]=%g %s\n", names[which], y[0], y[1], y[699],
               y == expected ? "right" : "WRONG");
    }

    const int n = 200;
    std::vector<double> f(n), u(n), residual(12);
    for (int i = 0; i < n; i++)
        f[i] = (i % 10) / 10.0;
    double *df = upload(f), *du = upload(u), *dr = upload(residual);
    conjugate_gradient<<<1, 256>>>(df, du, n, 12, dr);
    cudaMemcpy(u.data(), du, n * 8, cudaMemcpyDeviceToHost);
    cudaMemcpy(residual.data(), dr, 12 * 8, cudaMemcpyDeviceToHost);
    for (int k = 0; k < 12; k += 3)
        printf("cg step %d residual %.12g\n", k, residual[k]);
    printf("u[0]=%.12g u[100]=%.12g %s\n", u[0], u[100], cudaGetErrorString(cudaGetLastError()));
    return 0;
}
