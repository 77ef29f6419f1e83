"""c = a b with three loops, a of m x k and b of k x n elements. The third loop is missing."""
import numpy as np


def triple_loop(a, b):
    m, k = a.shape
    n = b.shape[1]
    c = np.zeros((m, n), np.float32)
    for i in range(m):
        for j in range(n):
            # TODO: the third loop: along row i of a, down column j of b, add the products.
            c[i, j] = 0
    return c
