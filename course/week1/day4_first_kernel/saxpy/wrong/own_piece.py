"""Every lane walks over a piece of its own: neighbouring lanes are far apart."""
import triton
import triton.language as tl

BLOCK = 512


@triton.jit
def saxpy(alpha, x, y, n, BLOCK: tl.constexpr):
    rounds = tl.cdiv(n, tl.num_programs(0) * BLOCK)
    first = tl.program_id(0) * BLOCK * rounds
    for turn in range(0, rounds):
        i = first + tl.arange(0, BLOCK) * rounds + turn
        inside = i < n
        value = alpha * tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside)
        tl.store(y + i, value, mask=inside)
