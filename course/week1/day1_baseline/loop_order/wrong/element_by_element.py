"""* multiplies elements with elements."""
import numpy as np


def loop_order(a, b):
    return a * b
