"""Copied once, worked on as long as there is work, copied back once."""
import cupy as cp


def stay(x, w, y, steps):
    on_x, on_y = cp.asarray(x), cp.asarray(y)
    for s in range(steps):
        on_y = on_y + float(w[s]) * on_x
    return cp.asnumpy(on_y)
