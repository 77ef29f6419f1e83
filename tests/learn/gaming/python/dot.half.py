# expect: wrong result for .*: s
"""Products of halves."""
import numpy as np


def dot(x, y):
    return np.dot(x.astype(np.float16).astype(np.float32), y)
