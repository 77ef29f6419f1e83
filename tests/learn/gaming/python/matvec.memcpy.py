# expect: 'runtime' is not for exercises
import cupy as cp


def matvec(a, x):
    y = cp.empty(len(a), "f")
    cp.cuda.runtime.memcpy(y.data.ptr, 0, y.nbytes, 1)
    return cp.asnumpy(y)
