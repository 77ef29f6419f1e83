"""Loads the tile twice."""
import triton
import triton.language as tl

ROWS = 32
COLS = 32


@triton.jit
def hot_line(source, gain, out, turned, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    r = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    c = tl.program_id(0) * COLS + tl.arange(0, COLS)
    inside = (r < rows)[:, None] & (c < cols)[None, :]
    factor = tl.load(gain + c, mask=c < cols)
    tile = factor[None, :] * tl.load(source + r[:, None] * cols + c[None, :], mask=inside)
    again = tl.load(source + r[:, None] * cols + c[None, :], mask=inside, volatile=True)
    tile = (tile + factor[None, :] * again) * 0.5
    tl.store(out + r[:, None] * cols + c[None, :], tile, mask=inside)
    tl.store(turned + c[:, None] * rows + r[None, :], tl.trans(tile), mask=tl.trans(inside))
