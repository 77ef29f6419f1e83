"""The sum of every row. tl.sum along a row needs no shared memory of yours: Triton keeps the partial
sums in registers and passes them between lanes. The counter shared_conflicts shows what it does."""
import triton
import triton.language as tl

ROWS = 16
COLS = 64


@triton.jit
def row_sums(source, sums, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    # TODO: every lane walks along a row of its own: 32 sectors for 32 floats. Load tiles of ROWS x COLS,
    # add them up, and let tl.sum(.., axis=1) add along the rows once, at the end.
    total = tl.zeros((ROWS,), tl.float32)
    for c in range(0, cols):
        total += tl.load(source + r * cols + c, mask=r < rows, other=0.0)
    tl.store(sums + r, total, mask=r < rows)
