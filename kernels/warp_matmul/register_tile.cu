/*
 * register_tile.cu: a lane makes a tile of SIZE / 4 rows by 4 columns of the product. What it reads
 * from shared memory, 16 bytes at a time, goes into as many multiplications as the tile is high or
 * wide. SIZE lanes make one product; warps are independent, so there is no block-wide barrier.
 */
// arch: sm_75
#include "device.h" /* load_stream */
#define BLOCK 128 // tune: 64 128
#define PITCH(size) ((size) + 4) /* words from row to row: 16 bytes of padding, against conflicts */

/* Copies a matrix to shared memory, [SIZE][PITCH(SIZE)], by SIZE lanes. A lane without a matrix
 * copies zeros. */
template <int SIZE>
static __device__ __forceinline__ void fetch(const float *from, unsigned me, bool mine, float *to)
{
    float4 v[SIZE / 4];
    from += me * 4;
    if (mine && (unsigned long long)from % 16 == 0) {
#pragma unroll
        for (unsigned k = 0; k < SIZE / 4; k++)
            v[k] = load_stream((const float4 *)(from + k * SIZE * 4));
    } else {
#pragma unroll
        for (unsigned k = 0; k < SIZE / 4; k++, from += SIZE * 4)
            v[k] = mine ? make_float4(from[0], from[1], from[2], from[3]) : make_float4(0, 0, 0, 0);
    }
#pragma unroll
    for (unsigned k = 0; k < SIZE / 4; k++) {
        unsigned i = (me + k * SIZE) * 4;
        *(float4 *)(to + i / SIZE * PITCH(SIZE) + i % SIZE) = v[k];
    }
}

/* sum += a * b, for four columns. */
static __device__ __forceinline__ void add_product(float4 &sum, float a, float4 b)
{
    sum.x = fmaf(a, b.x, sum.x);
    sum.y = fmaf(a, b.y, sum.y);
    sum.z = fmaf(a, b.z, sum.z);
    sum.w = fmaf(a, b.w, sum.w);
}

static __device__ __forceinline__ void store_four(float *at, float4 v, bool aligned)
{
    if (aligned) {
        __stcs((float4 *)at, v);
        return;
    }
    at[0] = v.x;
    at[1] = v.y;
    at[2] = v.z;
    at[3] = v.w;
}

template <int SIZE>
static __device__ __forceinline__ void multiply(const float *a, const float *b, long long batch,
                                                float *c)
{
    constexpr int ROWS = SIZE / 4; /* of a lane's tile: every fourth, for different banks */
    __shared__ __align__(16) float left[BLOCK / SIZE][SIZE * PITCH(SIZE)];
    __shared__ __align__(16) float right[BLOCK / SIZE][SIZE * PITCH(SIZE)];
    unsigned me = threadIdx.x % SIZE, slot = threadIdx.x / SIZE;
    unsigned first = me / ROWS, column = me % ROWS * 4;
    long long matrix = ((long long)blockIdx.x * BLOCK + threadIdx.x) / SIZE;
    long long offset = matrix * SIZE * SIZE;
    bool mine = matrix < batch, aligned = (unsigned long long)c % 16 == 0;
    fetch<SIZE>(a + offset, me, mine, left[slot]);
    fetch<SIZE>(b + offset, me, mine, right[slot]);
    __syncwarp();
    float4 sum[ROWS] = {};
#pragma unroll
    for (unsigned k = 0; k < SIZE; k += 4) {
        float4 of_b[4]; /* four rows of b meet four columns of a */
#pragma unroll
        for (unsigned j = 0; j < 4; j++)
            of_b[j] = *(const float4 *)(right[slot] + (k + j) * PITCH(SIZE) + column);
#pragma unroll
        for (unsigned i = 0; i < ROWS; i++) {
            float4 of_a = *(const float4 *)(left[slot] + (first + 4 * i) * PITCH(SIZE) + k);
            add_product(sum[i], of_a.x, of_b[0]);
            add_product(sum[i], of_a.y, of_b[1]);
            add_product(sum[i], of_a.z, of_b[2]);
            add_product(sum[i], of_a.w, of_b[3]);
        }
    }
    if (!mine)
        return;
    c += offset + first * SIZE + column;
#pragma unroll
    for (unsigned i = 0; i < ROWS; i++)
        store_four(c + i * 4 * SIZE, sum[i], aligned);
}

extern "C" __global__ void __launch_bounds__(BLOCK, 512 / BLOCK)
multiply_16(const float *a, const float *b, long long batch, float *c)
{
    multiply<16>(a, b, batch, c);
}

extern "C" __global__ void __launch_bounds__(BLOCK, 512 / BLOCK)
multiply_32(const float *a, const float *b, long long batch, float *c)
{
    multiply<32>(a, b, batch, c);
}
