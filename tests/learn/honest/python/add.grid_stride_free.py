import triton
import triton.language as tl

BLOCK: tl.constexpr = 512
num_warps = 2


@triton.jit
def inside(i, n):
    return i < n


@triton.jit
def add(a, b, c, n, BLOCK: tl.constexpr):
    i = tl.program_id(axis=0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(a + i, mask=inside(i, n), other=0.0, cache_modifier=".cg")
    y = tl.load(b + i, mask=inside(i, n), other=0.0, eviction_policy="evict_first")
    tl.store(c + i, x + y, mask=inside(i, n))
