/*
 * dequantised.cu: dequantise, then attend: one launch writes the whole cache as f16 into the workspace,
 * a second one attends to that with the same kernel as fused.cu. What it moves beside the cache is what
 * fusing saves.
 */
// arch: sm_90
#include "prefill.h"

#define WARPS 8
#define BLOCK 256

/* 16 numbers of a key and of its value; pages become [batch][kv_heads][keys] rows. */
extern "C" __global__ void __launch_bounds__(BLOCK)
    dequantise(unsigned short *to_k, unsigned short *to_v, unsigned char *k, unsigned char *v,
               unsigned char *v_scales, const float *head_scales, const int *table, const int *lengths,
               int heads, int kv_heads, int page, int pages_each, int batch, int keys, int dim)
{
    cache c = CACHE_ARGUMENTS;
    long long i = (long long)blockIdx.x * BLOCK + threadIdx.x, row = i / (dim / 16);
    int part = (int)(i % (dim / 16)), key = (int)(row % keys), head = (int)(row / keys % c.kv_heads);
    int sequence = (int)(row / keys / c.kv_heads);
    if (sequence >= batch || key >= c.lengths[sequence])
        return;
    long long from = row_of(c, sequence, head, key);
    uint4 codes = ((const uint4 *)(c.k + from * dim))[part];
    uint2 small = ((const uint2 *)(c.v + from * (dim / 2)))[part];
    float v_scale = scale_of_e4m3(c.v_scales[from * (dim / 16) + part]) * c.head_scales[2 * head + 1];
    unsigned word[4] = {codes.x, codes.y, codes.z, codes.w};
    unsigned v_word[4] = {small.x, small.x >> 16, small.y, small.y >> 16};
    unsigned k_out[8], v_out[8];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float x[4], y[4];
        E4M3::unpack(word[k], x);
        E2M1::unpack(v_word[k], y);
        float k_scale = c.head_scales[2 * head];
#pragma unroll
        for (int j = 0; j < 2; j++) {
            k_out[2 * k + j] = narrow_pair(x[2 * j] * k_scale, x[2 * j + 1] * k_scale, f16());
            v_out[2 * k + j] = narrow_pair(y[2 * j] * v_scale, y[2 * j + 1] * v_scale, f16());
        }
    }
#pragma unroll
    for (int j = 0; j < 2; j++) {
        ((uint4 *)to_k)[2 * i + j] = *(const uint4 *)&k_out[4 * j];
        ((uint4 *)to_v)[2 * i + j] = *(const uint4 *)&v_out[4 * j];
    }
}

/* The same row after row: sequence b has one page, b. */
extern "C" __global__ void __launch_bounds__(BLOCK) one_page_each(int *table, int batch)
{
    int i = (int)(blockIdx.x * BLOCK + threadIdx.x);
    if (i < batch)
        table[i] = i;
}

DECODE_KERNEL(attend_f16_64_bf16, 64, WARPS, 2, HalfCache, bf16)
DECODE_KERNEL(attend_f16_64_f16, 64, WARPS, 2, HalfCache, f16)
DECODE_KERNEL(attend_f16_128_bf16, 128, WARPS, 1, HalfCache, bf16)
DECODE_KERNEL(attend_f16_128_f16, 128, WARPS, 1, HalfCache, f16)
PREFILL_KERNEL(prefill_f16_64_bf16, 64, HalfLoader, bf16)
PREFILL_KERNEL(prefill_f16_64_f16, 64, HalfLoader, f16)
PREFILL_KERNEL(prefill_f16_128_bf16, 128, HalfLoader, bf16)
PREFILL_KERNEL(prefill_f16_128_f16, 128, HalfLoader, f16)
