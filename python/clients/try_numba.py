"""try_numba.py: does Numba run here? A guarded sum, shared memory with an atomic, and a grid that
synchronises; prints "works"."""

import warnings

import numpy as np
from numba import cuda

warnings.simplefilter("ignore")


@cuda.jit
def add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


@cuda.jit
def total(x, out):
    part = cuda.shared.array(1, "int64")
    if cuda.threadIdx.x == 0:
        part[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(part, 0, x[cuda.grid(1)])
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(out, 0, part[0])


@cuda.jit
def shifted(x, out):
    i = cuda.grid(1)
    x[i] += 1
    cuda.cg.this_grid().sync()
    out[i] = x[(i + 64) % x.size]


x = np.arange(1000, dtype=np.float32)
out = np.zeros_like(x)
add[4, 256](x, x, out)
assert (out == 2 * x).all()

sums = np.zeros(1, dtype=np.int64)
total[4, 64](np.arange(256), sums)
assert sums[0] == 255 * 128, sums

x, out = np.arange(128), np.zeros(128, dtype=np.int64)
shifted[2, 64](x, out)
assert (out == np.roll(np.arange(128) + 1, -64)).all(), out
print("works")
