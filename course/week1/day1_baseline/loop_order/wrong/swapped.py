"""b a is not a b."""
import numpy as np


def loop_order(a, b):
    return np.matmul(b, a)
