"""Elements, not bytes."""
def cost(m, n, k):
    flops = 2 * m * n * k
    moved = (m * k + k * n + m * n)
    return flops, moved, flops / moved
