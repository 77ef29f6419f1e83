/*
 * fused.cu: attention over the quantised cache, decoded in registers on the way to the tensor
 * cores. decode.h has it for one query a head, prefill.h for many.
 */
// arch: sm_90
#include "append.h"
#include "prefill.h"

#define WARPS 8

DECODE_COPIED_KERNEL(attend_fp8_nvfp4_64_bf16, 64, WARPS, 2, QuantisedCache, bf16)
DECODE_COPIED_KERNEL(attend_fp8_nvfp4_64_f16, 64, WARPS, 2, QuantisedCache, f16)
DECODE_COPIED_KERNEL(attend_fp8_nvfp4_128_bf16, 128, WARPS, 2, QuantisedCache, bf16)
DECODE_COPIED_KERNEL(attend_fp8_nvfp4_128_f16, 128, WARPS, 2, QuantisedCache, f16)
DECODE_KERNEL(attend_f16_64_bf16, 64, WARPS, 2, HalfCache, bf16)
DECODE_KERNEL(attend_f16_64_f16, 64, WARPS, 2, HalfCache, f16)
DECODE_KERNEL(attend_f16_128_bf16, 128, WARPS, 1, HalfCache, bf16)
DECODE_KERNEL(attend_f16_128_f16, 128, WARPS, 1, HalfCache, f16)
PREFILL_KERNEL(prefill_fp8_nvfp4_64_bf16, 64, QuantisedLoader, bf16)
PREFILL_KERNEL(prefill_fp8_nvfp4_64_f16, 64, QuantisedLoader, f16)
PREFILL_KERNEL(prefill_fp8_nvfp4_128_bf16, 128, QuantisedLoader, bf16)
PREFILL_KERNEL(prefill_fp8_nvfp4_128_f16, 128, QuantisedLoader, f16)
PREFILL_KERNEL(prefill_f16_64_bf16, 64, HalfLoader, bf16)
PREFILL_KERNEL(prefill_f16_64_f16, 64, HalfLoader, f16)
PREFILL_KERNEL(prefill_f16_128_bf16, 128, HalfLoader, bf16)
PREFILL_KERNEL(prefill_f16_128_f16, 128, HalfLoader, f16)
