// Elements, not bytes.
void cost(double *out, int m, int n, int k)
{
    out[0] = 2.0 * m * n * k;
    out[1] = 1.0 * m * k + 1.0 * k * n + 1.0 * m * n;
    out[2] = out[0] / out[1];
}
