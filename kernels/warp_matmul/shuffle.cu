/*
 * shuffle.cu: no shared memory and no barrier. A lane holds one column of b in registers and one
 * element of a row of a at a time; the lanes pass the row around by shuffles. A warp makes one
 * product of 32 x 32 matrices, or two of 16 x 16. The limit is one shuffle per multiplication.
 */
// arch: sm_75
#include "device.h" /* load_stream */
#define BLOCK 128 // tune: 64 128 256

template <int SIZE>
static __device__ __forceinline__ void multiply(const float *a, const float *b, long long batch,
                                                float *c)
{
    unsigned column = threadIdx.x % SIZE;
    long long matrix = ((long long)blockIdx.x * BLOCK + threadIdx.x) / SIZE;
    if (matrix - threadIdx.x % 32 / SIZE >= batch) /* the whole warp is past the last matrix */
        return;
    /* A half warp past the last matrix takes part in the shuffles with that one. */
    long long first = min(matrix, batch - 1) * SIZE * SIZE + column;
    const float *left = a + first, *right = b + first;
    float of_b[SIZE];
#pragma unroll
    for (unsigned k = 0; k < SIZE; k++)
        of_b[k] = load_stream(right + k * SIZE);
#pragma unroll 4
    for (unsigned row = 0; row < SIZE; row++) {
        float of_a = load_stream(left + row * SIZE), sum = 0;
#pragma unroll
        for (unsigned k = 0; k < SIZE; k++)
            sum = fmaf(__shfl_sync(0xffffffff, of_a, k, SIZE), of_b[k], sum);
        if (matrix < batch)
            c[first + row * SIZE] = sum;
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK, 1024 / BLOCK)
multiply_16(const float *a, const float *b, long long batch, float *c)
{
    multiply<16>(a, b, batch, c);
}

extern "C" __global__ void __launch_bounds__(BLOCK, 1024 / BLOCK)
multiply_32(const float *a, const float *b, long long batch, float *c)
{
    multiply<32>(a, b, batch, c);
}
