"""Codes beyond 127 wrap round."""
import triton
import triton.language as tl

BLOCK = 256


@triton.jit
def stochastic(x, random, codes, scale, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    u = tl.load(random + i, mask=i < n).to(tl.float32) * 0.015625
    y = tl.floor(tl.load(x + i, mask=i < n) / scale + u)
    tl.store(codes + i, y.to(tl.int32).to(tl.int8), mask=i < n)
