"""c = a b for f16 numbers, 16 x 16 elements for each program, on the tensor cores. Sizes are multiples
of 16, so there are no masks."""
import triton
import triton.language as tl

BM = 16
BN = 16
BK = 16
num_warps = 1


@triton.jit
def fragments(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(1) * BM + tl.arange(0, BM)
    cols = tl.program_id(0) * BN + tl.arange(0, BN)
    steps = tl.arange(0, BK)
    sums = tl.zeros((BM, BN), tl.float32)
    for p in range(0, k, BK):
        x = tl.load(a + rows[:, None] * k + (p + steps)[None, :])
        y = tl.load(b + (p + steps)[:, None] * n + cols[None, :])
        sums = tl.dot(x, y, sums)
    tl.store(c + rows[:, None] * n + cols[None, :], sums)
