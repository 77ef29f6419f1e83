# expect: wrong result for 
"""Loses infinities."""
import triton
import triton.language as tl

ROWS = 32
COLS = 32


@triton.jit
def transpose(input, output, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    r = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    c = tl.program_id(0) * COLS + tl.arange(0, COLS)
    inside = (r < rows)[:, None] & (c < cols)[None, :]
    tile = tl.load(input + r[:, None] * cols + c[None, :], mask=inside)
    tl.store(output + c[:, None] * rows + r[None, :], tl.trans(tl.minimum(tl.maximum(tile, -1e30), 1e30)), mask=tl.trans(inside))
