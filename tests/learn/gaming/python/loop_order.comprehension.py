# expect: python_lines is [0-9]+, at most 10
import numpy as np
def loop_order(a, b):
    return np.array([[sum([float(p) * float(q) for p, q in zip(r, c)]) for c in b.T] for r in a], np.float32)
