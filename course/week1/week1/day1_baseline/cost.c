// cost: what the product of two matrices costs, before a line of it is written.
//   out[0]  FLOPs: floating-point operations
//   out[1]  bytes: a, b and c once each, in floats
//   out[2]  FLOPs for each byte
//
// a has m x k elements, b has k x n, c has m x n. An element of c is the sum of k products.
void cost(double *out, int m, int n, int k)
{
    // TODO: this counts the products only, and one matrix. Mind how large m * n * k can become.
    out[0] = m * n * k;
    out[1] = 4.0 * m * n;
    out[2] = out[0] / out[1];
}
