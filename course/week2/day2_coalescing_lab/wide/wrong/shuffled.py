"""A fixed order that the compiler cannot see through: no two neighbours, no wide load."""
import triton
import triton.language as tl

BLOCK = 1024
num_warps = 4


@triton.jit
def wide(alpha, x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + ((tl.arange(0, BLOCK) * 5) % BLOCK)
    inside = i < n
    value = alpha * tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside)
    tl.store(y + i, value, mask=inside)
