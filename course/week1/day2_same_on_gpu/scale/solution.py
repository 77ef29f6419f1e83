"""There, times alpha, and back."""
import cupy as cp


def scale(alpha, x):
    return cp.asnumpy(alpha * cp.asarray(x))
