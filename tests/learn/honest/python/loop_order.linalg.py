import numpy as np
from numpy import linalg as la
def loop_order(a, b):
    return la.multi_dot([a, b, np.eye(b.shape[1], dtype=np.float32)]).astype(np.float32)
