"""values[i] = the number that E4M3 code i stands for: codes 0 to 126 are the positive ones, then come
their negatives. A code is s eeee mmm: (-1)^s * 2^(e - 7) * (1 + m / 8), and for e = 0: 2^-6 * m / 8."""
import triton
import triton.language as tl

BLOCK = 64


@triton.jit
def decode_fp8(values, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    code = i % 127
    e = code // 8
    m = code % 8
    # TODO: codes with e = 0 are different, half of the codes are negative, and a power of two needs no exp.
    value = tl.exp2((e - 7).to(tl.float32)) * (1 + m * 0.125)
    tl.store(values + i, value, mask=i < n)
