"""The third number is missing."""
def cost(m, n, k):
    flops = 2 * m * n * k
    moved = 4 * (m * k + k * n + m * n)
    return flops, moved
