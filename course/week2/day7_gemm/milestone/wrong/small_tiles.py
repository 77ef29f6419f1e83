"""The milestone: c = a b for f16 numbers, with everything: large tiles, tensor cores, a pipeline. On a
Hopper GPU tl.dot becomes wgmma, and its operands come from shared memory by asynchronous copies."""
import triton
import triton.language as tl

BM = 32
BN = 32
BK = 32
num_warps = 8
num_stages = 3


@triton.jit
def milestone(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(1) * BM + tl.arange(0, BM)
    cols = tl.program_id(0) * BN + tl.arange(0, BN)
    steps = tl.arange(0, BK)
    sums = tl.zeros((BM, BN), tl.float32)
    for p in range(0, k, BK):
        x = tl.load(a + rows[:, None] * k + (p + steps)[None, :])
        y = tl.load(b + (p + steps)[:, None] * n + cols[None, :])
        sums = tl.dot(x, y, sums)
    tl.store(c + rows[:, None] * n + cols[None, :], sums)
