"""y = alpha * x + y with four programs, whatever n is."""
import triton
import triton.language as tl

BLOCK = 512


@triton.jit
def saxpy(alpha, x, y, n, BLOCK: tl.constexpr):
    step = tl.num_programs(0) * BLOCK
    for start in range(tl.program_id(0) * BLOCK, n, step):
        i = start + tl.arange(0, BLOCK)
        inside = i < n
        value = alpha * tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside)
        tl.store(y + i, value, mask=inside)
