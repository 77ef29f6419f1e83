"""c = a + b, a block of elements for each program.

A program of Triton is what CUDA calls a block of threads, but you write it as if it were one: it
works on BLOCK elements at once. There are cdiv(n, BLOCK) programs; BLOCK is yours to choose, a power
of two.
"""
import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def add(a, b, c, n, BLOCK: tl.constexpr):
    # TODO: every program does the same elements, and does not stop at n.
    i = tl.arange(0, BLOCK)
    tl.store(c + i, tl.load(a + i) + tl.load(b + i))
