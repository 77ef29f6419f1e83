"""y is missing."""
import numpy as np


def dot(x, y):
    return np.sum(x)
