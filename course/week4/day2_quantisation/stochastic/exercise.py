"""codes[i] = x[i] / scale, rounded up or down at random: up with the probability of its fraction.
random[i] is 0 .. 63. Codes go from -127 to 127."""
import triton
import triton.language as tl

BLOCK = 256


@triton.jit
def stochastic(x, random, codes, scale, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    # TODO: add a random fraction, random[i] / 64, and round down. Then clamp.
    y = tl.floor(tl.load(x + i, mask=i < n) / scale + 0.5)
    tl.store(codes + i, y.to(tl.int8), mask=i < n)
