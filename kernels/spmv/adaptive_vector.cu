/*
 * adaptive_vector.cu: 2, 4, 8, 16 or 32 lanes for each row; the host picks as many as suit the mean
 * length, so that few lanes idle. A lane has UNROLL nonzeros in flight: a column and then the
 * element of x that it names are two waits for memory in a row, and only many of them side by side
 * keep memory busy.
 */
// arch: sm_75
#define BLOCK 256 // tune: 128 256 512
#define UNROLL 4 // tune: 2 4 8

template <int LANES>
static __device__ __forceinline__ void multiply(const int *offsets, const int *columns,
                                                const float *values, const float *x, long long rows,
                                                float *y)
{
    long long row = ((long long)blockIdx.x * BLOCK + threadIdx.x) / LANES;
    int lane = threadIdx.x % LANES;
    /* All lanes stay for the shuffles; those without a row have an empty one. */
    long long j = 0, end = 0;
    if (row < rows) {
        j = (long long)__ldg(offsets + row) + lane;
        end = __ldg(offsets + row + 1);
    }
    float sum = 0;
    for (; j + (UNROLL - 1) * LANES < end; j += UNROLL * LANES) {
        int column[UNROLL];
        float value[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; k++) {
            column[k] = __ldg(columns + j + k * LANES);
            value[k] = __ldg(values + j + k * LANES);
        }
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            sum = fmaf(value[k], __ldg(x + column[k]), sum);
    }
    for (; j < end; j += LANES)
        sum = fmaf(__ldg(values + j), __ldg(x + __ldg(columns + j)), sum);
    for (int lanes = LANES / 2; lanes > 0; lanes /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, lanes);
    if (lane == 0 && row < rows)
        y[row] = sum;
}

/* multiply_2 .. multiply_32, by the number of lanes. */
#define MULTIPLY(LANES)                                                                            \
    extern "C" __global__ void __launch_bounds__(BLOCK) multiply_##LANES(                          \
        const int *offsets, const int *columns, const float *values, const float *x,               \
        long long rows, float *y)                                                                  \
    {                                                                                              \
        multiply<LANES>(offsets, columns, values, x, rows, y);                                     \
    }
MULTIPLY(2)
MULTIPLY(4)
MULTIPLY(8)
MULTIPLY(16)
MULTIPLY(32)
