"""The products are not added up."""
import numpy as np


def dot(x, y):
    return x * y
