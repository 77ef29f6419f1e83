"""One call."""
import numpy as np


def dot(x, y):
    return np.dot(x, y)
