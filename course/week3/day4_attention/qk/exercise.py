"""s = scale * q k^T, in tiles. tl.dot wants rows times columns: the keys' tile is turned."""
import triton
import triton.language as tl

BM = 32
BN = 32
D = 32


@triton.jit
def qk(q, k, s, scale, queries, keys, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    i = tl.program_id(1) * BM + tl.arange(0, BM)
    j = tl.program_id(0) * BN + tl.arange(0, BN)
    # TODO: 32 steps, each with a column of q and a column of k, rows apart.
    sums = tl.zeros((BM, BN), tl.float32)
    for p in range(0, D):
        x = tl.load(q + i * D + p, mask=i < queries, other=0.0)
        y = tl.load(k + j * D + p, mask=j < keys, other=0.0)
        sums += scale * x[:, None] * y[None, :]
    inside = (i < queries)[:, None] & (j < keys)[None, :]
    tl.store(s + i[:, None] * keys + j[None, :], sums, mask=inside)
