# expect: cannot be counted: do the work in a few calls
import cupy as cp
def matvec(a, x):
    g, h = cp.asarray(a), cp.asarray(x)
    y = cp.empty(g.shape[0], cp.float32)
    for i in range(g.shape[0]):
        y[i] = float((g[i] * h).sum())
    return cp.asnumpy(y)
