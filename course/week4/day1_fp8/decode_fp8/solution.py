"""The exponent goes where a float has its own, with the other bias; e = 0 has no hidden 1."""
import triton
import triton.language as tl

BLOCK = 64


@triton.jit
def decode_fp8(values, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    code = i % 127
    e = code // 8
    m = code % 8
    normal = ((e - 7 + 127) << 23 | m << 20).to(tl.float32, bitcast=True)
    value = tl.where(e == 0, m * 0.001953125, normal)
    tl.store(values + i, tl.where(i < 127, value, -value), mask=i < n)
