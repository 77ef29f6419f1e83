"""A sum of k products has additions too."""
def cost(m, n, k):
    flops = m * n * k
    moved = 4 * (m * k + k * n + m * n)
    return flops, moved, flops / moved
