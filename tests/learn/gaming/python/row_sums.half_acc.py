# expect: wrong result for rows=64 cols=128: sums
"""The sum of every row. tl.sum along a row needs no shared memory of yours: Triton keeps the partial
sums in registers and passes them between lanes. The counter shared_conflicts shows what it does."""
import triton
import triton.language as tl

ROWS = 16
COLS = 64


@triton.jit
def row_sums(source, sums, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros((ROWS, COLS), tl.float16)
    for start in range(0, cols, COLS):
        c = start + tl.arange(0, COLS)
        inside = (r < rows)[:, None] & (c < cols)[None, :]
        total += tl.load(source + r[:, None] * cols + c[None, :], mask=inside, other=0.0).to(tl.float16)
    tl.store(sums + r, tl.sum(total.to(tl.float32), axis=1), mask=r < rows)
