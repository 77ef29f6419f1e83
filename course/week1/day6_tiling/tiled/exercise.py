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
    sums = tl.zeros((BM, BN), tl.float32)
    # TODO: one column of a and one row of b at a time. Load tiles of BM x BK and BK x BN instead,
    # and multiply them with tl.dot(x, y, sums, input_precision="ieee").
    for p in range(0, k):
        x = tl.load(a + rows * k + p, mask=rows < m, other=0.0)
        y = tl.load(b + p * n + cols, mask=cols < n, other=0.0)
        sums += x[:, None] * y[None, :]
    inside = (rows < m)[:, None] & (cols < n)[None, :]
    tl.store(c + rows[:, None] * n + cols[None, :], sums, mask=inside)
