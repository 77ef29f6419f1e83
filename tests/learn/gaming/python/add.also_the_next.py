# expect: several writers|leave their part|times the solution
"""Every program writes its own block and the next one's."""
import triton
import triton.language as tl

BLOCK = 512


@triton.jit
def add(a, b, c, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, 2 * BLOCK)
    inside = i < n
    tl.store(c + i, tl.load(a + i, mask=inside) + tl.load(b + i, mask=inside), mask=inside)
