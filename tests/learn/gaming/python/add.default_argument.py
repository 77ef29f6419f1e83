# expect: a default is a number
import triton
import triton.language as tl
BLOCK = 1024
@triton.jit
def add(a, b, c, n, BLOCK: tl.constexpr = open("/etc/passwd")):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.store(c + i, tl.load(a + i, m) + tl.load(b + i, m), m)
