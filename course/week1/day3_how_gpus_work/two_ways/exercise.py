"""y[i] = the sum of w[k] * x[i] where i is even, and of (x[i] - w[k])^2 where it is odd.

cp.where chooses between two results that are both computed, for all elements: half of the work is thrown
away. So does a warp whose lanes disagree about an 'if': it goes both ways."""
import cupy as cp


def two_ways(x, w):
    x, w = cp.asarray(x), cp.asarray(w)
    # TODO: x[0::2] are the even elements, x[1::2] the odd ones. Treat each in its own way.
    even = (x[:, None] * w).sum(axis=1)
    away = x[:, None] - w
    odd = (away * away).sum(axis=1)
    return cp.asnumpy(cp.where(cp.arange(len(x)) % 2 == 0, even, odd))
