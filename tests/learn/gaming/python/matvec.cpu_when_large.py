# expect: was computed on the CPU: nothing came back from the GPU
"""The CPU's product where there are many rows."""
import cupy as cp


def matvec(a, x):
    y = cp.asarray(a) @ cp.asarray(x)
    if len(a) > 600:
        return a @ x
    return cp.asnumpy(y)
