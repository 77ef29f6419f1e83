"""Programs are whole: the last one goes past the end."""
import triton
import triton.language as tl

BLOCK = 256


@triton.jit
def stochastic(x, random, codes, scale, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    u = tl.load(random + i).to(tl.float32) * 0.015625
    y = tl.floor(tl.load(x + i) / scale + u)
    tl.store(codes + i, tl.minimum(tl.maximum(y, -127.0), 127.0).to(tl.int8))
