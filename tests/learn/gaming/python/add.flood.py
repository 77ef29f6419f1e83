# expect: it prints without end
import triton
import triton.language as tl
BLOCK = 1024
@triton.jit
def add(a, b, c, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    v = tl.load(a + i, mask) + tl.load(b + i, mask)
    tl.device_print("passed", v)
    tl.store(c + i, v, mask)
