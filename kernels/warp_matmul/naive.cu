/*
 * naive.cu: one thread for each element of a product, everything from memory. The caches absorb
 * that each row and column is read SIZE times, but every multiplication waits for two loads.
 */
// arch: sm_75
#define BLOCK 256 // tune: 128 256 512

template <int SIZE>
static __device__ __forceinline__ void multiply(const float *a, const float *b, long long batch,
                                                float *c)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    long long matrix = i / (SIZE * SIZE) * (SIZE * SIZE); /* where it begins */
    unsigned row = (unsigned)(i - matrix) / SIZE, column = (unsigned)(i - matrix) % SIZE;
    if (i >= batch * SIZE * SIZE)
        return;
    float sum = 0;
    for (unsigned k = 0; k < SIZE; k++)
        sum = fmaf(b[matrix + k * SIZE + column], a[matrix + row * SIZE + k], sum);
    c[i] = sum;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
multiply_16(const float *a, const float *b, long long batch, float *c)
{
    multiply<16>(a, b, batch, c);
}

extern "C" __global__ void __launch_bounds__(BLOCK)
multiply_32(const float *a, const float *b, long long batch, float *c)
{
    multiply<32>(a, b, batch, c);
}
