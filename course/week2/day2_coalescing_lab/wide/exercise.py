"""y = alpha * x + y, 16 bytes in one load. Triton gives each lane neighbouring elements and loads them
at once, if there are enough: a program has BLOCK elements for 32 * num_warps lanes."""
import triton
import triton.language as tl

# TODO: one element for each lane: four times the loads and stores that are needed.
BLOCK = 128
num_warps = 4


@triton.jit
def wide(alpha, x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    value = alpha * tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside)
    tl.store(y + i, value, mask=inside)
