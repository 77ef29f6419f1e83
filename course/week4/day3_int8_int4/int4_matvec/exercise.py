"""y = w * x, where w is stored in four bits: groups of 32 weights with a scale, two codes to a byte, the
even one low, each code 8 too large.

Every weight loads its byte for itself here, so that each byte is loaded twice."""
import triton
import triton.language as tl

ROWS = 4
num_warps = 2


@triton.jit
def int4_matvec(w, scales, x, y, rows, groups, ROWS: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, 32)
    total = tl.zeros((ROWS, 32), tl.float32)
    for g in range(0, groups):
        # TODO: 16 bytes are 32 weights. Load each byte once, and split x into even and odd.
        at = w + (r[:, None] * groups + g) * 16 + c[None, :] // 2
        byte = tl.load(at, mask=(r < rows)[:, None], other=0).to(tl.int32)
        scale = tl.load(scales + r * groups + g, mask=r < rows, other=0.0)
        code = tl.where((c % 2 == 0)[None, :], byte & 15, byte >> 4) - 8
        total += scale[:, None] * code.to(tl.float32) * tl.load(x + g * 32 + c)[None, :]
    tl.store(y + r, tl.sum(total, axis=1), mask=r < rows)
