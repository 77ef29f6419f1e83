"""c = a b, without a loop in Python.

The result is right, but Python runs 262,144 times through the inner loop, and each time it looks up what
'+' and '*' mean for these two numbers."""
import numpy as np


def loop_order(a, b):
    # TODO: let NumPy do the loops. @ is the product of two matrices.
    m, k = a.shape
    n = b.shape[1]
    c = np.zeros((m, n), np.float32)
    for i in range(m):
        for j in range(n):
            for p in range(k):
                c[i, j] += a[i, p] * b[p, j]
    return c
