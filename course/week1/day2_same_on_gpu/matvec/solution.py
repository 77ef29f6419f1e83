"""There with both, one product, and back with the result."""
import cupy as cp


def matvec(a, x):
    y = cp.asarray(a) @ cp.asarray(x)
    return cp.asnumpy(y)
