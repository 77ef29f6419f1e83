// Computed in int, and converted when it is too late: 2 * 2048 * 2048 * 1024 does not fit.
void cost(double *out, int m, int n, int k)
{
    out[0] = 2 * m * n * k;
    out[1] = 4.0 * m * k + 4.0 * k * n + 4.0 * m * n;
    out[2] = out[0] / out[1];
}
