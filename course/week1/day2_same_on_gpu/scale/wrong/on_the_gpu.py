"""The result stays on the GPU."""
import cupy as cp


def scale(alpha, x):
    return alpha * cp.asarray(x)
