# expect: y is not what came back from the GPU
import cupy as cp
import numpy as np
def scale(alpha, x):
    g = cp.asarray(x)
    y = cp.asnumpy(g)
    y *= alpha
    return y
