# expect: times the solution
"""The whole row at once: no pass over it at all."""
import triton
import triton.language as tl

COLS = 4096
num_warps = 4


@triton.jit
def online(x, out, scale, cols, COLS: tl.constexpr):
    c = tl.arange(0, COLS)
    row = tl.program_id(0) * cols
    inside = c < cols
    value = tl.where(inside, scale * tl.load(x + row + c, mask=inside, other=0.0), float("-inf"))
    power = tl.exp(value - tl.max(value))
    tl.store(out + row + c, power / tl.sum(power), mask=inside)
