// Attention: three naive kernels (scores, softmax, values) in f32, a flash-style kernel that keeps
// a running maximum and sum over key tiles, causal and not, and the same in half with half2 math.
// Prints few digits; each is held to a CPU reference in double.

#include <cmath>
#include <cstdio>
#include <cuda_fp16.h>
#include <vector>

const int HEADS = 2, LENGTH = 64, DIM = 32;

__global__ void scores(const float *q, const float *k, float *s, bool causal)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    int head = blockIdx.z;
    q += head * LENGTH * DIM, k += head * LENGTH * DIM, s += head * LENGTH * LENGTH;
    float sum = 0;
    for (int d = 0; d < DIM; d++)
        sum += q[row * DIM + d] * k[column * DIM + d];
    s[row * LENGTH + column] = causal && column > row ? -INFINITY : sum * rsqrtf((float)DIM);
}

__global__ void row_softmax(float *s)
{
    float *row = s + (blockIdx.y * LENGTH + blockIdx.x) * LENGTH, largest = -INFINITY, sum = 0;
    for (int i = threadIdx.x; i < LENGTH; i += 32)
        largest = fmaxf(largest, row[i]);
    for (int d = 16; d; d /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, d));
    for (int i = threadIdx.x; i < LENGTH; i += 32)
        sum += row[i] = __expf(row[i] - largest);
    for (int d = 16; d; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    for (int i = threadIdx.x; i < LENGTH; i += 32)
        row[i] /= sum;
}

__global__ void weighted_values(const float *s, const float *v, float *out)
{
    int row = blockIdx.x, d = threadIdx.x, head = blockIdx.y;
    float sum = 0;
    for (int j = 0; j < LENGTH; j++)
        sum += s[(head * LENGTH + row) * LENGTH + j] * v[(head * LENGTH + j) * DIM + d];
    out[(head * LENGTH + row) * DIM + d] = sum;
}

template <class T> __device__ float as_float(T x);
template <> __device__ float as_float(float x)
{
    return x;
}
template <> __device__ float as_float(__half x)
{
    return __half2float(x);
}
template <class T> __device__ T from_float(float x);
template <> __device__ float from_float(float x)
{
    return x;
}
template <> __device__ __half from_float(float x)
{
    return __float2half(x);
}

// A thread owns one query row; keys and values pass through shared memory in tiles.
template <class T, int TILE>
__global__ void flash(const T *q, const T *k, const T *v, T *out, bool causal)
{
    __shared__ T ks[TILE][DIM], vs[TILE][DIM];
    int row = blockIdx.x * blockDim.x + threadIdx.x, head = blockIdx.y;
    q += head * LENGTH * DIM, k += head * LENGTH * DIM, v += head * LENGTH * DIM;
    float query[DIM], accumulated[DIM] = {}, largest = -INFINITY, sum = 0;
    for (int d = 0; d < DIM; d++)
        query[d] = as_float(q[row * DIM + d]);
    for (int tile = 0; tile < LENGTH; tile += TILE) {
        for (int i = threadIdx.x; i < TILE * DIM; i += blockDim.x) {
            ks[i / DIM][i % DIM] = k[tile * DIM + i];
            vs[i / DIM][i % DIM] = v[tile * DIM + i];
        }
        __syncthreads();
        float s[TILE], tile_max = -INFINITY;
        for (int j = 0; j < TILE; j++) {
            float dot = 0;
            for (int d = 0; d < DIM; d++)
                dot += query[d] * as_float(ks[j][d]);
            s[j] = causal && tile + j > row ? -INFINITY : dot * 0.17677669f;
            tile_max = fmaxf(tile_max, s[j]);
        }
        float next = fmaxf(largest, tile_max);
        float scale = __expf(largest - next);
        sum *= scale;
        for (int d = 0; d < DIM; d++)
            accumulated[d] *= scale;
        for (int j = 0; j < TILE; j++) {
            float p = __expf(s[j] - next);
            sum += p;
            for (int d = 0; d < DIM; d++)
                accumulated[d] += p * as_float(vs[j][d]);
        }
        largest = next;
        __syncthreads();
    }
    for (int d = 0; d < DIM; d++)
        out[(head * LENGTH + row) * DIM + d] = from_float<T>(accumulated[d] / sum);
}

// Scores in half2 arithmetic, one warp a row.
__global__ void half2_scores(const __half2 *q, const __half2 *k, float *s)
{
    int row = blockIdx.x, head = blockIdx.y;
    const __half2 *mine = q + (head * LENGTH + row) * DIM / 2;
    for (int column = threadIdx.x; column < LENGTH; column += 32) {
        const __half2 *other = k + (head * LENGTH + column) * DIM / 2;
        __half2 sum = __float2half2_rn(0.0f);
        for (int d = 0; d < DIM / 2; d++)
            sum = __hfma2(mine[d], other[d], sum);
        s[(head * LENGTH + row) * LENGTH + column] = __low2float(sum) + __high2float(sum);
    }
}

static void reference(const std::vector<float> &q, const std::vector<float> &k,
                      const std::vector<float> &v, std::vector<double> &out, bool causal)
{
    for (int h = 0; h < HEADS; h++)
        for (int i = 0; i < LENGTH; i++) {
            std::vector<double> p(LENGTH, 0.0);
            double sum = 0;
            for (int j = 0; j < (causal ? i + 1 : LENGTH); j++) {
                double dot = 0;
                for (int d = 0; d < DIM; d++)
                    dot += (double)q[(h * LENGTH + i) * DIM + d] * k[(h * LENGTH + j) * DIM + d];
                sum += p[j] = exp(dot / sqrt((double)DIM));
            }
            for (int d = 0; d < DIM; d++) {
                double value = 0;
                for (int j = 0; j < LENGTH; j++)
                    value += p[j] / sum * v[(h * LENGTH + j) * DIM + d];
                out[(h * LENGTH + i) * DIM + d] = value;
            }
        }
}

static void report(const char *name, const std::vector<float> &got, const std::vector<double> &want,
                   double tolerance)
{
    double worst = 0, sum = 0;
    for (size_t i = 0; i < got.size(); i++) {
        worst = fmax(worst, fabs(got[i] - want[i]));
        sum += got[i];
    }
    printf("%-20s %.3f %.3f %.3f sum %.1f %s\n", name, got[0], got[1000], got.back(), sum,
           worst < tolerance ? "close" : "FAR");
}

int main()
{
    const int n = HEADS * LENGTH * DIM;
    std::vector<float> q(n), k(n), v(n), got(n);
    std::vector<double> want(n);
    std::vector<__half> hq(n), hk(n), hv(n), hgot(n);
    for (int i = 0; i < n; i++) { // multiples of 1/16: exact in half
        q[i] = (float)(i * 37 % 41 - 20) / 16.0f;
        k[i] = (float)(i * 53 % 47 - 23) / 16.0f;
        v[i] = (float)(i * 29 % 61 - 15) / 16.0f;
        hq[i] = __float2half(q[i]), hk[i] = __float2half(k[i]), hv[i] = __float2half(v[i]);
    }
    float *dq, *dk, *dv, *ds, *dout;
    __half *hdq, *hdk, *hdv, *hdout;
    cudaMalloc(&dq, n * 4), cudaMalloc(&dk, n * 4), cudaMalloc(&dv, n * 4),
        cudaMalloc(&dout, n * 4);
    cudaMalloc(&hdq, n * 2), cudaMalloc(&hdk, n * 2), cudaMalloc(&hdv, n * 2);
    cudaMalloc(&hdout, n * 2), cudaMalloc(&ds, HEADS * LENGTH * LENGTH * 4);
    cudaMemcpy(dq, q.data(), n * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(dk, k.data(), n * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(dv, v.data(), n * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(hdq, hq.data(), n * 2, cudaMemcpyHostToDevice);
    cudaMemcpy(hdk, hk.data(), n * 2, cudaMemcpyHostToDevice);
    cudaMemcpy(hdv, hv.data(), n * 2, cudaMemcpyHostToDevice);

    for (bool causal : {false, true}) {
        reference(q, k, v, want, causal);
        printf("causal: %s\n", causal ? "yes" : "no");
        scores<<<dim3(LENGTH / 16, LENGTH / 16, HEADS), dim3(16, 16)>>>(dq, dk, ds, causal);
        row_softmax<<<dim3(LENGTH, HEADS), 32>>>(ds);
        weighted_values<<<dim3(LENGTH, HEADS), DIM>>>(ds, dv, dout);
        cudaMemcpy(got.data(), dout, n * 4, cudaMemcpyDeviceToHost);
        report("three kernels", got, want, 1e-5);
        flash<float, 16><<<dim3(2, HEADS), LENGTH / 2>>>(dq, dk, dv, dout, causal);
        cudaMemcpy(got.data(), dout, n * 4, cudaMemcpyDeviceToHost);
        report("flash f32", got, want, 1e-5);
        flash<__half, 32><<<dim3(2, HEADS), LENGTH / 2>>>(hdq, hdk, hdv, hdout, causal);
        cudaMemcpy(hgot.data(), hdout, n * 2, cudaMemcpyDeviceToHost);
        for (int i = 0; i < n; i++)
            got[i] = __half2float(hgot[i]);
        report("flash half", got, want, 4e-3);
    }
    half2_scores<<<dim3(LENGTH, HEADS), 32>>>((__half2 *)hdq, (__half2 *)hdk, ds);
    std::vector<float> s(HEADS * LENGTH * LENGTH);
    cudaMemcpy(s.data(), ds, s.size() * 4, cudaMemcpyDeviceToHost);
    double sum = 0;
    for (float x : s)
        sum += x;
    printf("half2 scores %.6f %.6f %.6f sum %.6f\n", s[0], s[100], s.back(), sum);
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    return 0;
}
