"""Codes are 8 too large."""
import triton
import triton.language as tl

ROWS = 4
num_warps = 2


@triton.jit
def int4_matvec(w, scales, x, y, rows, groups, ROWS: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, 16)
    total = tl.zeros((ROWS, 16), tl.float32)
    for g in range(0, groups):
        at = w + (r[:, None] * groups + g) * 16 + c[None, :]
        byte = tl.load(at, mask=(r < rows)[:, None], other=0).to(tl.int32)
        scale = tl.load(scales + r * groups + g, mask=r < rows, other=0.0)
        even, odd = tl.split(tl.reshape(tl.load(x + g * 32 + tl.arange(0, 32)), (16, 2)))
        low = (byte & 15).to(tl.float32)
        high = ((byte >> 4) - 8).to(tl.float32)
        total += scale[:, None] * (low * even[None, :] + high * odd[None, :])
    tl.store(y + r, tl.sum(total, axis=1), mask=r < rows)
