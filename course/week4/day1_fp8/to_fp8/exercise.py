"""y[i] = scale * x[i], rounded to E4M3, which Triton calls float8e4nv. n is a multiple of 4.

The result is right, but a lane has one number: it loads 4 bytes and stores one."""
import triton
import triton.language as tl

# TODO: a program has 8 warps, 256 lanes. How many numbers does a lane have? How many would fill a
# load of 16 bytes?
BLOCK = 256
num_warps = 8


@triton.jit
def to_fp8(x, y, scale, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = scale * tl.load(x + i, mask=i < n)
    tl.store(y + i, value.to(tl.float8e4nv), mask=i < n)
