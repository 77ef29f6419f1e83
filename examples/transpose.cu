/*
 * transpose.cu: the first kernel to profile: a transpose whose stores are scattered over memory.
 *   lockstep run examples/transpose.cu
 *   lockstep profile examples/transpose.cu     which line costs the time, and what to do about it
 *   lockstep check examples/transpose.cu
 */
#include <stdio.h>
#include <stdlib.h>

#define N 1024

__global__ void transpose(const float *in, float *out)
{
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 8 + threadIdx.y;
    float value = in[y * N + x];
    out[x * N + y] = value;
}

int main(void)
{
    float *in, *out, *host = (float *)malloc(N * N * sizeof *host);
    for (int i = 0; i < N * N; i++)
        host[i] = (float)i;
    cudaMalloc(&in, N * N * sizeof *in);
    cudaMalloc(&out, N * N * sizeof *out);
    cudaMemcpy(in, host, N * N * sizeof *in, cudaMemcpyHostToDevice);
    transpose<<<dim3(N / 32, N / 8), dim3(32, 8)>>>(in, out);
    cudaMemcpy(host, out, N * N * sizeof *out, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++)
            wrong += host[y * N + x] != (float)(x * N + y);
    printf("%d of %d elements are wrong\n", wrong, N * N);
    cudaFree(in);
    cudaFree(out);
    free(host);
    return wrong != 0;
}
