"""Each weight is fetched back from the GPU before it is used."""
import cupy as cp


def stay(x, w, y, steps):
    on_x, on_y = cp.asarray(x), cp.asarray(y)
    w = cp.asarray(w)
    for s in range(steps):
        on_y = on_y + float(w[s]) * on_x
    return cp.asnumpy(on_y)
