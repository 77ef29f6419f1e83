/*
 * shared.cu: a block makes one product. It fetches both matrices into shared memory once, and its
 * threads read them from there. Memory sees each element once; shared memory still sees two reads
 * for every multiplication.
 */
// arch: sm_75
#define BLOCK 256 // tune: 128 256

template <int SIZE>
static __device__ __forceinline__ void multiply(const float *a, const float *b, float *c)
{
    __shared__ float left[SIZE * SIZE], right[SIZE * SIZE];
    long long matrix = (long long)blockIdx.x * SIZE * SIZE;
#pragma unroll
    for (unsigned i = threadIdx.x; i < SIZE * SIZE; i += BLOCK) {
        left[i] = a[matrix + i];
        right[i] = b[matrix + i];
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < SIZE * SIZE; i += BLOCK) {
        float sum = 0;
#pragma unroll
        for (unsigned k = 0; k < SIZE; k++)
            sum = fmaf(left[i / SIZE * SIZE + k], right[k * SIZE + i % SIZE], sum);
        c[matrix + i] = sum;
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
multiply_16(const float *a, const float *b, long long, float *c)
{
    multiply<16>(a, b, c);
}

extern "C" __global__ void __launch_bounds__(BLOCK)
multiply_32(const float *a, const float *b, long long, float *c)
{
    multiply<32>(a, b, c);
}
