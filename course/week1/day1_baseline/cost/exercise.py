"""What the product of two matrices costs, a with m x k and b with k x n elements: how many FLOPs, how many
bytes if each matrix is touched once (a float has 4), and how many FLOPs for each byte."""
def cost(m, n, k):
    # TODO: half of the operations and two of the three matrices are missing.
    flops = m * n * k
    moved = 4 * m * n
    return flops, moved, flops / moved
