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
    p = tl.arange(0, D)
    x = tl.load(q + i[:, None] * D + p[None, :], mask=(i < queries)[:, None], other=0.0)
    y = tl.load(k + j[:, None] * D + p[None, :], mask=(j < keys)[:, None], other=0.0)
    sums = scale * tl.dot(x, tl.trans(y), input_precision="ieee")
    inside = (i < queries)[:, None] & (j < keys)[None, :]
    tl.store(s + i[:, None] * keys + j[None, :], sums, mask=inside)
