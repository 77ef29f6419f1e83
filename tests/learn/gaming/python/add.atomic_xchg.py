# expect: 3128 atomics; the solution has none
import triton
import triton.language as tl
BLOCK = 1024
@triton.jit
def add(a, b, c, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.atomic_xchg(c + i, tl.load(a + i, m) + tl.load(b + i, m), m)
