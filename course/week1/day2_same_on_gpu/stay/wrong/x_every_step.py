"""x is copied in every step."""
import cupy as cp


def stay(x, w, y, steps):
    on_x, on_y = cp.asarray(x), cp.asarray(y)
    for s in range(steps):
        on_y = on_y + float(w[s]) * cp.asarray(x)
    return cp.asnumpy(on_y)
