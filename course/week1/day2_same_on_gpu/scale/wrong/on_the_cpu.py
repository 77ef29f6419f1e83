"""NumPy does it, on the CPU."""
import cupy as cp


def scale(alpha, x):
    return (alpha * x).astype(x.dtype)
