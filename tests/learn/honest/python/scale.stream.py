import cupy as cp
def scale(alpha, x):
    with cp.cuda.Stream() as s:
        y = cp.asarray(x) * cp.float32(alpha)
        s.synchronize()
    return y.get()
