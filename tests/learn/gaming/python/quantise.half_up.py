# expect: wrong result for 
"""Halves upwards."""
import triton
import triton.language as tl

BLOCK = 512
num_warps = 4


@triton.jit
def quantise(x, codes, scales, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    value = tl.load(x + row * cols + c, mask=c < cols, other=0.0)
    scale = tl.div_rn(tl.max(tl.abs(value), axis=0), 127.0)
    steps = tl.div_rn(value, tl.where(scale > 0, scale, 1.0))
    nearest = tl.floor(steps + 0.5)
    tl.store(codes + row * cols + c, nearest.to(tl.int8), mask=c < cols)
    tl.store(scales + row, scale)
