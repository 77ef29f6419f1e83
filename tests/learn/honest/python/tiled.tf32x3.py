"""c = a b in tiles: a program loads BM x BK numbers of a and BK x BN of b at once, and uses each of
them many times. tl.dot keeps the tiles in shared memory for you, barriers included."""
import triton
import triton.language as tl

BM = 32
BN = 32
BK = 32


@triton.jit
def tiled(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(1) * BM + tl.arange(0, BM)
    cols = tl.program_id(0) * BN + tl.arange(0, BN)
    steps = tl.arange(0, BK)
    sums = tl.zeros((BM, BN), tl.float32)
    for p in range(0, k, BK):
        at = p + steps
        x = tl.load(a + rows[:, None] * k + at[None, :],
                    mask=(rows < m)[:, None] & (at < k)[None, :], other=0.0)
        y = tl.load(b + at[:, None] * n + cols[None, :],
                    mask=(at < k)[:, None] & (cols < n)[None, :], other=0.0)
        sums = tl.dot(x, y, sums, input_precision="tf32x3")
    inside = (rows < m)[:, None] & (cols < n)[None, :]
    tl.store(c + rows[:, None] * n + cols[None, :], sums, mask=inside)
