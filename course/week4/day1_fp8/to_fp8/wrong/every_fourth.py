"""A lane's numbers are far apart: no wide load, no wide store."""
import triton
import triton.language as tl

BLOCK = 1024
num_warps = 8


@triton.jit
def to_fp8(x, y, scale, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK) % 256 * 4 + tl.arange(0, BLOCK) // 256
    value = scale * tl.load(x + i, mask=i < n)
    tl.store(y + i, value.to(tl.float8e4nv), mask=i < n)
