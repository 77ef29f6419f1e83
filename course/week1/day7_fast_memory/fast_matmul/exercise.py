"""The milestone: c = a b with tiles as large as pay. BM, BN, BK and num_warps are yours."""
import triton
import triton.language as tl

# TODO: every number is fetched m / 16 times or n / 16 times.
BM = 16
BN = 16
BK = 16
num_warps = 4


@triton.jit
def fast_matmul(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
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
        sums = tl.dot(x, y, sums, input_precision="ieee")
    inside = (rows < m)[:, None] & (cols < n)[None, :]
    tl.store(c + rows[:, None] * n + cols[None, :], sums, mask=inside)
