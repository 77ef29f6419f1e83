"""s[j] = ks[j] * q . kq[j], with keys of 32 E4M3 codes.

The result is right, but a program takes its keys one after the other: a load of 32 bytes at a time."""
import triton
import triton.language as tl

KEYS = 64
num_warps = 4


@triton.jit
def scores_fp8(q, kq, ks, s, keys, KEYS: tl.constexpr):
    c = tl.arange(0, 32)
    query = tl.load(q + c)
    # TODO: a tile of KEYS x 32 codes in place of the loop.
    for j in range(tl.program_id(0) * KEYS, tl.minimum(keys, tl.program_id(0) * KEYS + KEYS)):
        key = tl.load(kq + j * 32 + c).to(tl.float32)
        tl.store(s + j, tl.sum(key * query, axis=0) * tl.load(ks + j))
