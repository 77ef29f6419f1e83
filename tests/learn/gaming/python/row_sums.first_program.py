# expect: of the busiest warp
"""The first program has all rows."""
import triton
import triton.language as tl

ROWS = 16
COLS = 64


@triton.jit
def row_sums(source, sums, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    if tl.program_id(0) == 0:
        for first in range(0, rows, ROWS):
            r = first + tl.arange(0, ROWS)
            total = tl.zeros((ROWS, COLS), tl.float32)
            for start in range(0, cols, COLS):
                c = start + tl.arange(0, COLS)
                total += tl.load(source + r[:, None] * cols + c[None, :],
                                 mask=(r < rows)[:, None] & (c < cols)[None, :], other=0.0)
            tl.store(sums + r, tl.sum(total, axis=1), mask=r < rows)
