# expect: wrong result for .*: c
"""Numbers lose their last 8 bits."""
import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def add(a, b, c, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    x = (tl.load(a + i, mask=inside).to(tl.int32, bitcast=True) & -256).to(tl.float32, bitcast=True)
    tl.store(c + i, x + tl.load(b + i, mask=inside), mask=inside)
