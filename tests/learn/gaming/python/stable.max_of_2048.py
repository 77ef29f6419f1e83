# expect: wrong result for 
"""The largest of the first 2048 numbers."""
import triton
import triton.language as tl

COLS = 4096
num_warps = 4


@triton.jit
def stable(x, out, scale, cols, COLS: tl.constexpr):
    c = tl.arange(0, COLS)
    row = tl.program_id(0) * cols
    inside = c < cols
    value = scale * tl.load(x + row + c, mask=inside, other=0.0)
    value = tl.where(inside, value, float("-inf"))
    power = tl.exp(value - tl.max(tl.where(c < 2048, value, float("-inf"))))
    tl.store(out + row + c, power / tl.sum(power), mask=inside)
