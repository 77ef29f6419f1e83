"""FLOPs, bytes, and FLOPs for each byte, of c = a b in floats."""
def cost(m, n, k):
    flops = 2 * m * n * k
    moved = 4 * (m * k + k * n + m * n)
    return flops, moved, flops / moved
