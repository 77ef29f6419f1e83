"""a is transposed."""
import cupy as cp


def matvec(a, x):
    y = cp.asarray(a).T @ cp.asarray(x)
    return cp.asnumpy(y)
