# expect: wrong result for 
"""Borders belong to the upper code."""
import triton
import triton.language as tl

BLOCKS = 16


@triton.jit
def code_of(y):  # E2M1: the code is the number of borders below |y|; ties go to the even code
    size = tl.abs(y)
    code = (size >= 0.25).to(tl.int32) + (size >= 0.75) + (size >= 1.25) + (size >= 1.75)
    code += (size >= 2.5).to(tl.int32) + (size >= 3.5) + (size >= 5.0)
    return code + tl.where(y < 0, 8, 0)


@triton.jit
def nvfp4(x, packed, scales, tensor_scale, blocks, BLOCKS: tl.constexpr):
    b = tl.program_id(0) * BLOCKS + tl.arange(0, BLOCKS)
    inside = (b < blocks)[:, None]
    value = tl.load(x + b[:, None] * 16 + tl.arange(0, 16)[None, :], mask=inside, other=0.0)
    most = tl.max(tl.abs(value), axis=1)
    small = tl.div_rn(tl.div_rn(most, 6.0), tensor_scale).to(tl.float8e4nv)
    scale = small.to(tl.float32) * tensor_scale
    code = code_of(tl.div_rn(value, tl.where(scale > 0, scale, 1.0)[:, None]))
    low, high = tl.split(tl.reshape(code, (BLOCKS, 8, 2)))
    at = packed + b[:, None] * 8 + tl.arange(0, 8)[None, :]
    tl.store(at, (low | high << 4).to(tl.uint8), mask=inside)
    tl.store(scales + b, small, mask=b < blocks)
