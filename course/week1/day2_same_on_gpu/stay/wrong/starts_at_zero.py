"""y itself is not added."""
import cupy as cp


def stay(x, w, y, steps):
    on_x, on_y = cp.asarray(x), cp.zeros(len(y), cp.float32)
    for s in range(steps):
        on_y = on_y + float(w[s]) * on_x
    return cp.asnumpy(on_y)
