// estimate: what c = a * b costs at least, for f32 matrices of m x k, k x n and m x n elements.
//
//   result[0]  operations: each of the m * n sums has k products and k additions
//   result[1]  bytes: a and b are read once, c is written once
//   result[2]  arithmetic intensity: operations for each byte
void estimate(int m, int n, int k, double *result)
{
    // TODO: additions count too, a float has 4 bytes, and a large product does not fit into an int.
    result[0] = m * n * k;
    result[1] = m * k + k * n + m * n;
    result[2] = result[0] / result[1];
}
