"""y = x + r, and out = gain * y / sqrt(mean of y^2 + 1e-5), row by row: what stands between any two parts
of a transformer. A program has one row; rows have at most 1024 numbers.

The row is read in four pieces for the sum, and in four pieces again for the result."""
import triton
import triton.language as tl

BLOCK = 128
num_warps = 4


@triton.jit
def add_norm(x, r, gain, y, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0) * cols
    squares = tl.zeros((BLOCK,), tl.float32)
    # TODO: x and r are read twice. A program can hold the whole row, up to 1024 numbers, at once.
    for start in range(0, cols, BLOCK):
        c = start + tl.arange(0, BLOCK)
        value = tl.load(x + row + c, mask=c < cols, other=0.0)
        value += tl.load(r + row + c, mask=c < cols, other=0.0)
        squares += value * value
    scale = 1 / tl.sqrt(tl.sum(squares, axis=0) / cols + 0.00001)
    for start in range(0, cols, BLOCK):
        c = start + tl.arange(0, BLOCK)
        value = tl.load(x + row + c, mask=c < cols) + tl.load(r + row + c, mask=c < cols)
        tl.store(y + row + c, value, mask=c < cols)
        tl.store(out + row + c, tl.load(gain + c, mask=c < cols) * value * scale, mask=c < cols)
