# expect: python_lines is [0-9]+, at most 10
import numpy as np
def loop_order(a, b):
    return np.array(list(map(lambda r: list(map(lambda c: sum(map(np.multiply, r, c)), b.T)), a)), np.float32)
