// The result has to be written too.
void cost(double *out, int m, int n, int k)
{
    out[0] = 2.0 * m * n * k;
    out[1] = 4.0 * m * k + 4.0 * k * n;
    out[2] = out[0] / out[1];
}
