"""The code is the number of borders below the number. From a border, ties go to the even code: > and >=
take turns."""
import triton
import triton.language as tl

BLOCK = 256


@triton.jit
def e2m1(x, codes, scale, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y = scale * tl.load(x + i, mask=i < n)
    size = tl.abs(y)
    code = (size > 0.25).to(tl.int32) + (size >= 0.75) + (size > 1.25) + (size >= 1.75)
    code += (size > 2.5).to(tl.int32) + (size >= 3.5) + (size > 5.0)
    tl.store(codes + i, (code + tl.where(y < 0, 8, 0)).to(tl.uint8), mask=i < n)
