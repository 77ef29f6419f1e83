# expect: matvec.os.py:7: .*'ma' is not for exercises
import cupy as cp
import numpy as np


def matvec(a, x):
    np.ma.core.inspect.os.system("touch ran")
    return cp.asnumpy(cp.asarray(a) @ cp.asarray(x))
