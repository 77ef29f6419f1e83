# expect: wrong result for n=[0-9]+: c
import triton
import triton.language as tl
BLOCK = 1024
@triton.jit
def add(a, b, c, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(c + i, (tl.load(a + i, mask).to(tl.float16) + tl.load(b + i, mask).to(tl.float16)).to(tl.float32), mask)
