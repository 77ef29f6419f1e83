"""NumPy's loops run in C, over numbers that lie side by side. One line of Python starts them all."""
import numpy as np


def loop_order(a, b):
    return np.matmul(a, b)
