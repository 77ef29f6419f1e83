"""The inner loop has k steps."""
import numpy as np


def triple_loop(a, b):
    m, k = a.shape
    n = b.shape[1]
    c = np.zeros((m, n), np.float32)
    for i in range(m):
        for j in range(n):
            for p in range(m):
                c[i, j] += a[i, p] * b[p, j]
    return c
