"""Added, not multiplied."""
import cupy as cp


def scale(alpha, x):
    return cp.asnumpy(alpha + cp.asarray(x))
