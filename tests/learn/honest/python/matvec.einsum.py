import cupy as cp
def matvec(a, x):
    a, x = cp.array(a), cp.array(x)
    return cp.einsum("ij,j->i", a, x).get()
