"""x is copied once, but a still goes in pieces."""
import cupy as cp


def matvec(a, x):
    x = cp.asarray(x)
    y = cp.concatenate([cp.asarray(a[i : i + 64]) @ x for i in range(0, len(a), 64)])
    return cp.asnumpy(y)
