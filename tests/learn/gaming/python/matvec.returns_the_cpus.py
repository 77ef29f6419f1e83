# expect: y is not what came back from the GPU
import cupy as cp
import numpy as np
def matvec(a, x):
    g, h = cp.asarray(a), cp.asarray(x)
    cp.asnumpy(g[0:1].sum() + cp.zeros(a.shape[0], np.float32))
    return a @ x
