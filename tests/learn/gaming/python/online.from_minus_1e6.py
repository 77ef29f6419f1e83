# expect: wrong result for 
"""Minus a million in place of minus infinity."""
import triton
import triton.language as tl

COLS = 128
num_warps = 1


@triton.jit
def online(x, out, scale, cols, COLS: tl.constexpr):
    c = tl.arange(0, COLS)
    row = tl.program_id(0) * cols
    top = tl.full((COLS,), -1e6, tl.float32)
    total = tl.zeros((COLS,), tl.float32)
    for start in range(0, cols, COLS):
        inside = start + c < cols
        value = scale * tl.load(x + row + start + c, mask=inside, other=0.0)
        higher = tl.where(inside, tl.maximum(top, value), top)
        total = tl.where(inside, total * tl.exp(top - higher) + tl.exp(value - higher), total)
        top = higher
    most = tl.max(top)
    whole = tl.sum(tl.where(total > 0, total * tl.exp(top - most), 0.0))
    for start in range(0, cols, COLS):
        inside = start + c < cols
        value = scale * tl.load(x + row + start + c, mask=inside, other=0.0)
        tl.store(out + row + start + c, tl.exp(value - most) / whole, mask=inside)
