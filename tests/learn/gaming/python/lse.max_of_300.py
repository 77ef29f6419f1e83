# expect: wrong result for 
"""The largest of the first 300 numbers."""
import triton
import triton.language as tl

ROWS = 4
COLS = 512
num_warps = 4


@triton.jit
def lse(x, out, scale, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, COLS)
    inside = (r < rows)[:, None] & (c < cols)[None, :]
    value = scale * tl.load(x + r[:, None] * cols + c[None, :], mask=inside, other=0.0)
    value = tl.where((c < cols)[None, :], value, float("-inf"))
    top = tl.max(tl.where((c < 300)[None, :], value, float("-inf")), axis=1)
    total = tl.sum(tl.exp(value - top[:, None]), axis=1)
    tl.store(out + r, top + tl.log(total), mask=r < rows)
