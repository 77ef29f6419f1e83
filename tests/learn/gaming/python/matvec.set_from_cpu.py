# expect: this copies something to the GPU that is not an input
import cupy as cp
import numpy as np
def matvec(a, x):
    y = a @ x
    g = cp.empty(y.shape, np.float32)
    g.set(y)
    cp.asarray(a); cp.asarray(x)
    return cp.asnumpy(g)
