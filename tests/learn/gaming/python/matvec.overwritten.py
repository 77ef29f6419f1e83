# expect: y is not what came back from the GPU
import cupy as cp
def matvec(a, x):
    y = cp.asnumpy(cp.asarray(a)[:, 0] * cp.asarray(x)[0])
    y[:] = a @ x
    return y
