"""c = a b, a tile of 16 x 16 elements of c for each program; the numbers of a and b come straight
from global memory."""
import triton
import triton.language as tl

BM = 16
BN = 16


@triton.jit
def matmul(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(1) * BM + tl.arange(0, BM)
    cols = tl.program_id(0) * BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for p in range(0, k):
        x = tl.load(a + rows * k + p, mask=rows < m, other=0.0)
        y = tl.load(b + cols * k + p, mask=cols < n, other=0.0)
        sums += x[:, None] * y[None, :]
    inside = (rows < m)[:, None] & (cols < n)[None, :]
    tl.store(c + rows[:, None] * n + cols[None, :], sums, mask=inside)
