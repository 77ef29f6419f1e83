"""Digits are cut off: negative numbers go up."""
import triton
import triton.language as tl

BLOCK = 256


@triton.jit
def stochastic(x, random, codes, scale, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    u = tl.load(random + i, mask=i < n).to(tl.float32) * 0.015625
    y = (tl.load(x + i, mask=i < n) / scale + u).to(tl.int32).to(tl.float32)
    tl.store(codes + i, tl.minimum(tl.maximum(y, -127.0), 127.0).to(tl.int8), mask=i < n)
