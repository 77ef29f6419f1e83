# expect: x is an input, and the function has changed it
import numpy as np
def dot(x, y):
    x *= y
    return x.sum()
