# expect: wrong result for n=[0-9]+ scale=[0-9.]+: y
"""Four numbers for each lane: 16 bytes in, 4 bytes out. Triton makes wide loads and stores of its own
accord as soon as a lane has neighbours."""
import triton
import triton.language as tl

BLOCK = 1024
num_warps = 8


@triton.jit
def to_fp8(x, y, scale, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = scale * tl.load(x + i, mask=i < n)
    tl.store(y + i, value.to(tl.float16).to(tl.float8e4nv), mask=i < n)
