# expect: bytes went to the GPU that are no inputs
# Whatever the CPU has computed is an index into a table of all numbers.
import cupy as cp
import numpy as np


def matvec(a, x):
    y, where = np.unique(a @ x, return_inverse=True)
    wide = np.repeat(where, 4).tolist()
    table = cp.zeros(len(y), np.float32) + cp.asarray(x)[0] * 0 + cp.asarray(a)[0, 0] * 0
    return cp.asnumpy(table[wide][::4] + cp.asarray(a) @ cp.asarray(x))
