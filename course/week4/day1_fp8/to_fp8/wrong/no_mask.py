"""Programs are whole: the last one reads and writes past the end."""
import triton
import triton.language as tl

BLOCK = 1024
num_warps = 8


@triton.jit
def to_fp8(x, y, scale, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = scale * tl.load(x + i)
    tl.store(y + i, value.to(tl.float8e4nv))
