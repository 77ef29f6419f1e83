"""c is touched as well."""
def cost(m, n, k):
    flops = 2 * m * n * k
    moved = 4 * (m * k + k * n)
    return flops, moved, flops / moved
