# expect: several writers: c.0.
import triton
import triton.language as tl
BLOCK = 1024
@triton.jit
def add(a, b, c, n, BLOCK: tl.constexpr):
    for p in range(0, n, BLOCK):
        i = p + tl.arange(0, BLOCK)
        mask = i < n
        tl.store(c + i, tl.load(a + i, mask) + tl.load(b + i, mask), mask)
