"""Every program takes elements far apart: the number of programs lies between two neighbours."""
import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def add(a, b, c, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) + tl.arange(0, BLOCK) * tl.num_programs(0)
    inside = i < n
    tl.store(c + i, tl.load(a + i, mask=inside) + tl.load(b + i, mask=inside), mask=inside)
