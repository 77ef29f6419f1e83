// A product and its addition are two operations.
void cost(double *out, int m, int n, int k)
{
    out[0] = 1.0 * m * n * k;
    out[1] = 4.0 * m * k + 4.0 * k * n + 4.0 * m * n;
    out[2] = out[0] / out[1];
}
