# expect: wrong result for rows=40 cols=1 scale=[0-9]+: out
"""A constant is taken off, as large as the largest that there can be."""
import triton
import triton.language as tl

COLS = 4096
num_warps = 4


@triton.jit
def stable(x, out, scale, cols, COLS: tl.constexpr):
    c = tl.arange(0, COLS)
    row = tl.program_id(0) * cols
    inside = c < cols
    value = tl.where(inside, scale * tl.load(x + row + c, mask=inside, other=0.0), float("-inf"))
    power = tl.exp(value - tl.maximum(tl.max(value), -1000.0))
    tl.store(out + row + c, power / tl.sum(power), mask=inside)
