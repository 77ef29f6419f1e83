"""s = the sum of x[i] * y[i]. A number, without a loop in Python."""
import numpy as np


def dot(x, y):
    # TODO: from memory.
    pass
