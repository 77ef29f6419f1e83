// softmax_overflow.cu: why softmax subtracts the largest number first. exp(12) is more than f16 can
// hold, and exp(89) more than f32: the formula as it stands then divides infinity by infinity.
// flags: -arch=sm_90

#include <cstdio>
#include <cuda_fp16.h>

// One thread a row of four: out = exp(x - less) / sum of exp(x - less), in arithmetic of type T.
template <class T> __device__ T power(T x);
template <> __device__ half power(half x)
{
    return hexp(x);
}
template <> __device__ float power(float x)
{
    return expf(x);
}

template <class T> __global__ void softmax(const float *in, bool stable, float *out)
{
    const float *x = in + threadIdx.x * 4;
    float most = fmaxf(fmaxf(x[0], x[1]), fmaxf(x[2], x[3]));
    T less = stable ? T(most) : T(0.0f), sum = T(0.0f);
    for (int k = 0; k < 4; k++)
        sum = sum + power(T(x[k]) - less);
    for (int k = 0; k < 4; k++)
        out[threadIdx.x * 4 + k] = float(power(T(x[k]) - less) / sum);
}

static void show(const char *name, const float *out)
{
    printf("%s\n", name);
    for (int row = 0; row < 3; row++) {
        for (int k = 0; k < 4; k++) // a NaN's sign is nobody's business
            out[row * 4 + k] == out[row * 4 + k] ? printf(" %.3f", out[row * 4 + k])
                                                 : printf(" nan");
        printf("\n");
    }
}

int main()
{
    const float rows[3][4] = {{1, 2, 3, 4}, {50, 49, 48, 47}, {1000, 999, 1000, 0}};
    float *in, *out;
    cudaMallocManaged(&in, sizeof rows);
    cudaMallocManaged(&out, sizeof rows);
    for (int i = 0; i < 12; i++)
        in[i] = rows[i / 4][i % 4];
    for (int stable = 0; stable < 2; stable++) {
        softmax<half><<<1, 3>>>(in, stable, out);
        cudaDeviceSynchronize();
        show(stable ? "f16, less the largest" : "f16, as it stands", out);
        softmax<float><<<1, 3>>>(in, stable, out);
        cudaDeviceSynchronize();
        show(stable ? "f32, less the largest" : "f32, as it stands", out);
    }
    return 0;
}
