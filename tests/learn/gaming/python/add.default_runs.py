# expect: a default is a number, and a type is a name
import triton
import triton.language as tl
BLOCK = 1024
@triton.jit
def add(a, b, c, n, BLOCK: tl.constexpr = triton.compile("/etc/passwd")):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(c + i, tl.load(a + i, mask) + tl.load(b + i, mask), mask)
