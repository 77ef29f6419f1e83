"""out = in turned. The tile is read along the rows of one matrix and written along the rows of the
other. In CUDA C you turn it in shared memory, with a column of padding; Triton does that where the
two orders differ. What it cannot choose for you is the shape of the tile."""
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
    tl.store(output + c[:, None] * cols + r[None, :], tl.trans(tile), mask=tl.trans(inside))
