/*
 * naive.cu: as the formula says it, in three kernels: all scores into memory, softmax of each row,
 * weights times V. The matrix of scores is written and read three times, and its size grows with
 * the square of the length: 16 heads of 16 K tokens need 17 GB.
 */
// arch: sm_80
#include "attention.h"
#define SIDE 16
#define ROW_THREADS 128

/* Row `query` of the scores, [batch][heads * group][queries][keys]. */
static __device__ __forceinline__ float *scores_of(const attention_arguments &g, int number,
                                                   int query)
{
    return (float *)g.workspace + ((long long)number * g.queries + query) * g.keys;
}

/* A thread for each score, in units of log2. */
template <class type> static __device__ __forceinline__ void scores(const attention_arguments &g)
{
    sequence s = sequence_of(g, blockIdx.z);
    int query = blockIdx.y * SIDE + threadIdx.y, key = blockIdx.x * SIDE + threadIdx.x;
    if (query >= s.queries || key >= s.keys)
        return;
    long long q = s.batch * g.q_batch + s.head * g.q_head + (s.q_first + query) * g.q_row;
    long long k = s.batch * g.k_batch + s.kv_head * g.k_head + (s.k_first + key) * g.k_row;
    seen keys = seen_by(g, s, query);
    float sum = 0;
    for (int i = 0; i < g.dim; i++)
        sum = fmaf(type::load(g.q, q + i), type::load(g.k, k + i), sum);
    scores_of(g, blockIdx.z, query)[key] =
        key < keys.first || key > keys.last
            ? lowest()
            : scale_score(g, sum * factors_of(g, s).score) - distance_cost(g, s, query, key);
}

/* Of one number in each thread of the block; all get it. */
static __device__ __forceinline__ float largest_of_all(float x)
{
    __shared__ float all[ROW_THREADS];
    all[threadIdx.x] = x;
    __syncthreads();
    for (int i = 0; i < ROW_THREADS; i++)
        x = fmaxf(x, all[i]);
    __syncthreads();
    return x;
}
static __device__ __forceinline__ float sum_of_all(float x)
{
    __shared__ float all[ROW_THREADS];
    float sum = 0;
    all[threadIdx.x] = x;
    __syncthreads();
    for (int i = 0; i < ROW_THREADS; i++)
        sum += all[i];
    __syncthreads();
    return sum;
}

/* A block for each row. */
extern "C" __global__ void __launch_bounds__(ROW_THREADS)
    softmax(const __grid_constant__ attention_arguments g)
{
    sequence s = sequence_of(g, blockIdx.y);
    int query = blockIdx.x;
    if (query >= s.queries)
        return;
    float *row = scores_of(g, blockIdx.y, query), largest = lowest(), sum = 0;
    for (int i = threadIdx.x; i < s.keys; i += ROW_THREADS)
        largest = fmaxf(largest, row[i]);
    largest = largest_of_all(largest);
    float base = largest == lowest() ? 0 : largest;
    for (int i = threadIdx.x; i < s.keys; i += ROW_THREADS)
        sum += exp2_fast(row[i] - base);
    sum = sum_of_all(sum);
    float by = sum == 0 ? 0 : 1.0f / sum;
    for (int i = threadIdx.x; i < s.keys; i += ROW_THREADS)
        row[i] = drop_weight(g, s, query, i, exp2_fast(row[i] - base) * by);
    if (threadIdx.x == 0)
        store_lse(g, s, query, lse_of(base, sum));
}

/* A thread for each number of the output. */
template <class type> static __device__ __forceinline__ void product(const attention_arguments &g)
{
    sequence s = sequence_of(g, blockIdx.z);
    int query = blockIdx.y * SIDE + threadIdx.y, column = blockIdx.x * SIDE + threadIdx.x;
    if (query >= s.queries || column >= g.dim)
        return;
    const float *row = scores_of(g, blockIdx.z, query);
    long long v = s.batch * g.v_batch + s.kv_head * g.v_head + s.k_first * g.v_row + column;
    seen keys = seen_by(g, s, query);
    float sum = 0;
    for (int i = keys.first; i <= keys.last; i++)
        sum = fmaf(row[i], type::load(g.v, v + i * g.v_row), sum);
    type::store(g.o,
                s.batch * g.o_batch + s.head * g.o_head + (s.q_first + query) * g.o_row + column,
                sum * factors_of(g, s).value);
}

#define ATTENTION(type)                                                                            \
    extern "C" __global__ void scores_##type(const __grid_constant__ attention_arguments g)        \
    {                                                                                              \
        scores<type>(g);                                                                           \
    }                                                                                              \
    extern "C" __global__ void product_##type(const __grid_constant__ attention_arguments g)       \
    {                                                                                              \
        product<type>(g);                                                                          \
    }
ATTENTION(bf16)
ATTENTION(f16)
ATTENTION(f32)
ATTENTION(e4m3)
