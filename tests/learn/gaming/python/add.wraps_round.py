# expect: several writers: c.0.
import triton
import triton.language as tl
BLOCK = 1024
@triton.jit
def add(a, b, c, n, BLOCK: tl.constexpr):
    i = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)) % n
    tl.store(c + i, tl.load(a + i) + tl.load(b + i))
