"""s[j] = q . keys[j]: a tile of keys for each program, the sums along d by tl.sum."""
import triton
import triton.language as tl

KEYS = 16
D = 128


@triton.jit
def scores(q, keys, s, n, d, KEYS: tl.constexpr, D: tl.constexpr):
    j = tl.program_id(0) * KEYS + tl.arange(0, KEYS)
    # TODO: each lane walks along a key of its own. Load tiles of KEYS x D, and add along d at the end.
    total = tl.zeros((KEYS,), tl.float32)
    for i in range(0, d):
        total += tl.load(q + i) * tl.load(keys + j * d + i, mask=j < n, other=0.0)
    tl.store(s + j, total, mask=j < n)
