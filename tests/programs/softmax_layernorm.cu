// The row-wise kernels of a transformer: softmax naive, with warp shuffles and online; layer norm
// by block and by Welford; RMS norm; GELU both ways; SiLU; cross-entropy. Against double on the
// CPU; prints few digits, since expf and friends end in approximations.

#include <cfloat>
#include <cmath>
#include <cstdio>
#include <vector>

const int ROWS = 24, COLUMNS = 200;

__global__ void softmax_naive(const float *in, float *out, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= ROWS)
        return;
    const float *x = in + row * columns;
    float largest = -INFINITY, sum = 0;
    for (int i = 0; i < columns; i++)
        largest = fmaxf(largest, x[i]);
    for (int i = 0; i < columns; i++)
        sum += expf(x[i] - largest);
    for (int i = 0; i < columns; i++)
        out[row * columns + i] = expf(x[i] - largest) / sum;
}

__device__ float warp_max(float v)
{
    for (int d = 16; d; d >>= 1)
        v = fmaxf(v, __shfl_xor_sync(~0u, v, d));
    return v;
}

__device__ float warp_sum(float v)
{
    for (int d = 16; d; d >>= 1)
        v += __shfl_xor_sync(~0u, v, d);
    return v;
}

__global__ void softmax_warp(const float *in, float *out, int columns)
{
    const float *x = in + blockIdx.x * columns;
    float largest = -INFINITY, sum = 0;
    for (int i = threadIdx.x; i < columns; i += 32)
        largest = fmaxf(largest, x[i]);
    largest = warp_max(largest);
    for (int i = threadIdx.x; i < columns; i += 32)
        sum += __expf(x[i] - largest);
    sum = warp_sum(sum);
    for (int i = threadIdx.x; i < columns; i += 32)
        out[blockIdx.x * columns + i] = __fdividef(__expf(x[i] - largest), sum);
}

struct __align__(8) max_sum
{
    float m, d;
};

__device__ max_sum combine(max_sum a, max_sum b)
{
    max_sum big = a.m > b.m ? a : b, small = a.m > b.m ? b : a;
    return {big.m, big.d + (small.d ? small.d * __expf(small.m - big.m) : 0.0f)};
}

__global__ void softmax_online(const float *in, float *out, int columns)
{
    __shared__ max_sum shared[8];
    const float *x = in + blockIdx.x * columns;
    max_sum total = {-FLT_MAX, 0};
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        total = combine(total, {x[i], 1.0f});
    for (int d = 16; d; d >>= 1) {
        max_sum other = {__shfl_down_sync(~0u, total.m, d), __shfl_down_sync(~0u, total.d, d)};
        total = combine(total, other);
    }
    if (threadIdx.x % 32 == 0)
        shared[threadIdx.x / 32] = total;
    __syncthreads();
    total = shared[0];
    for (unsigned w = 1; w < blockDim.x / 32; w++)
        total = combine(total, shared[w]);
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        out[blockIdx.x * columns + i] = expf(x[i] - total.m) / total.d;
}

__global__ void layernorm(const float *in, float *out, const float *gain, const float *bias, int n)
{
    __shared__ float mean_s, rstd_s, partial[4][2];
    const float *x = in + blockIdx.x * n;
    float sum = 0, squares = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        sum += x[i];
        squares += x[i] * x[i];
    }
    sum = warp_sum(sum);
    squares = warp_sum(squares);
    if (threadIdx.x % 32 == 0) {
        partial[threadIdx.x / 32][0] = sum;
        partial[threadIdx.x / 32][1] = squares;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        sum = squares = 0;
        for (unsigned w = 0; w < blockDim.x / 32; w++)
            sum += partial[w][0], squares += partial[w][1];
        mean_s = sum / n;
        rstd_s = rsqrtf(squares / n - mean_s * mean_s + 1e-5f);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[blockIdx.x * n + i] = (x[i] - mean_s) * rstd_s * gain[i] + bias[i];
}

__global__ void layernorm_welford(const float *in, float *out, const float *gain, const float *bias,
                                  int n)
{
    const float *x = in + blockIdx.x * n;
    float mean = 0, m2 = 0, count = 0;
    for (int i = threadIdx.x; i < n; i += 32) {
        count++;
        float delta = x[i] - mean;
        mean += delta / count;
        m2 += delta * (x[i] - mean);
    }
    for (int d = 16; d; d >>= 1) {
        float mean2 = __shfl_xor_sync(~0u, mean, d), m22 = __shfl_xor_sync(~0u, m2, d);
        float count2 = __shfl_xor_sync(~0u, count, d), both = count + count2;
        float delta = mean2 - mean;
        mean += delta * count2 / both;
        m2 += m22 + delta * delta * count * count2 / both;
        count = both;
    }
    float rstd = 1.0f / sqrtf(m2 / count + 1e-5f);
    for (int i = threadIdx.x; i < n; i += 32)
        out[blockIdx.x * n + i] = (x[i] - mean) * rstd * gain[i] + bias[i];
}

__global__ void rmsnorm(const float *in, float *out, const float *gain, int n)
{
    float squares = 0;
    for (int i = threadIdx.x; i < n; i += 32)
        squares += in[blockIdx.x * n + i] * in[blockIdx.x * n + i];
    float scale = rsqrtf(warp_sum(squares) / n + 1e-6f);
    for (int i = threadIdx.x; i < n; i += 32)
        out[blockIdx.x * n + i] = in[blockIdx.x * n + i] * scale * gain[i];
}

__global__ void activations(const float *in, float *tanh_gelu, float *erf_gelu, float *silu, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = in[i];
    tanh_gelu[i] = 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
    erf_gelu[i] = 0.5f * x * (1.0f + erff(x * 0.70710678f));
    silu[i] = x / (1.0f + __expf(-x));
}

__global__ void cross_entropy(const float *probabilities, const int *target, float *loss, int n)
{
    int row = threadIdx.x;
    if (row < ROWS)
        loss[row] = -logf(probabilities[row * n + target[row]]);
}

static std::vector<float> host(ROWS *COLUMNS), got(ROWS *COLUMNS);
static std::vector<double> want(ROWS *COLUMNS);

static void compare(const char *name, const float *device, double tolerance)
{
    cudaMemcpy(got.data(), device, got.size() * 4, cudaMemcpyDeviceToHost);
    double worst = 0, sum = 0;
    for (size_t i = 0; i < got.size(); i++) {
        worst = fmax(worst, fabs(got[i] - want[i]));
        sum += got[i];
    }
    printf("%-18s [5]=%.4g [777]=%.4g sum %.2f %s\n", name, got[5], got[777], sum + 0.001,
           worst < tolerance ? "close" : "FAR");
}

static const int n = COLUMNS, total = ROWS * COLUMNS;

static void softmaxes(const float *in, float *out, float *losses)
{
    for (int r = 0; r < ROWS; r++) {
        double sum = 0;
        for (int i = 0; i < n; i++)
            sum += exp((double)host[r * n + i]);
        for (int i = 0; i < n; i++)
            want[r * n + i] = exp((double)host[r * n + i]) / sum;
    }
    softmax_naive<<<1, 32>>>(in, out, n);
    compare("softmax naive", out, 1e-6);
    softmax_warp<<<ROWS, 32>>>(in, out, n);
    compare("softmax warp", out, 1e-6);
    softmax_online<<<ROWS, 128>>>(in, out, n);
    compare("softmax online", out, 1e-6);

    std::vector<int> target(ROWS);
    for (int r = 0; r < ROWS; r++)
        target[r] = r * 53 % n;
    int *dtarget;
    cudaMalloc(&dtarget, ROWS * 4);
    cudaMemcpy(dtarget, target.data(), ROWS * 4, cudaMemcpyHostToDevice);
    cross_entropy<<<1, 32>>>(out, dtarget, losses, n);
    float loss[ROWS];
    cudaMemcpy(loss, losses, sizeof loss, cudaMemcpyDeviceToHost);
    printf("cross entropy %.3f %.3f %.3f\n", loss[0], loss[1], loss[23]);
}

static void norms(const float *in, float *out, const std::vector<float> &gain, const float *dgain,
                  const std::vector<float> &bias, const float *dbias)
{
    for (int r = 0; r < ROWS; r++) {
        double mean = 0, variance = 0;
        for (int i = 0; i < n; i++)
            mean += host[r * n + i] / (double)n;
        for (int i = 0; i < n; i++)
            variance += (host[r * n + i] - mean) * (host[r * n + i] - mean) / n;
        for (int i = 0; i < n; i++)
            want[r * n + i] = (host[r * n + i] - mean) / sqrt(variance + 1e-5) * gain[i] + bias[i];
    }
    layernorm<<<ROWS, 128>>>(in, out, dgain, dbias, n);
    compare("layernorm", out, 1e-5);
    layernorm_welford<<<ROWS, 32>>>(in, out, dgain, dbias, n);
    compare("layernorm welford", out, 1e-5);

    for (int r = 0; r < ROWS; r++) {
        double squares = 0;
        for (int i = 0; i < n; i++)
            squares += (double)host[r * n + i] * host[r * n + i] / n;
        for (int i = 0; i < n; i++)
            want[r * n + i] = host[r * n + i] / sqrt(squares + 1e-6) * gain[i];
    }
    rmsnorm<<<ROWS, 32>>>(in, out, dgain, n);
    compare("rmsnorm", out, 1e-5);
}

static void gelu_and_silu(const float *in, float *out, float *out2, float *out3)
{
    activations<<<(total + 255) / 256, 256>>>(in, out, out2, out3, total);
    for (int i = 0; i < total; i++) {
        double x = host[i];
        want[i] = 0.5 * x * (1 + tanh(0.7978845608 * (x + 0.044715 * x * x * x)));
    }
    compare("gelu tanh", out, 1e-5);
    for (int i = 0; i < total; i++)
        want[i] = 0.5 * host[i] * (1 + erf(host[i] * 0.70710678118654752));
    compare("gelu erf", out2, 1e-5);
    for (int i = 0; i < total; i++)
        want[i] = host[i] / (1 + exp(-(double)host[i]));
    compare("silu", out3, 1e-5);
}

int main()
{
    std::vector<float> gain(n), bias(n);
    for (int i = 0; i < total; i++)
        host[i] = (float)((i * 7919 + i / 37) % 1000) / 125.0f - 4.0f;
    for (int i = 0; i < n; i++)
        gain[i] = 1.0f + i % 5 * 0.1f, bias[i] = i % 3 * 0.5f;
    float *in, *out, *out2, *out3, *dgain, *dbias;
    cudaMalloc(&in, total * 4);
    cudaMalloc(&out, total * 4);
    cudaMalloc(&out2, total * 4);
    cudaMalloc(&out3, total * 4);
    cudaMalloc(&dgain, n * 4);
    cudaMalloc(&dbias, n * 4);
    cudaMemcpy(in, host.data(), total * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(dgain, gain.data(), n * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(dbias, bias.data(), n * 4, cudaMemcpyHostToDevice);
    softmaxes(in, out, out2);
    norms(in, out, gain, dgain, bias, dbias);
    gelu_and_silu(in, out, out2, out3);
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    return 0;
}
