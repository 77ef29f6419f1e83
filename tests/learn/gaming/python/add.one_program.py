# expect: by the busiest warp|of the busiest warp
import triton
import triton.language as tl
BLOCK = 131072
num_warps = 32
@triton.jit
def add(a, b, c, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(c + i, tl.load(a + i, mask) + tl.load(b + i, mask), mask)
