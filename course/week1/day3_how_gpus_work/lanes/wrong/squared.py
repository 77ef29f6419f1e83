"""x times x."""
import cupy as cp


def lanes(x, scale):
    y = cp.asarray(x) * cp.asarray(x)
    return cp.asnumpy(y)
