// Forgets that the result must be written.
void estimate(int m, int n, int k, double *result)
{
    double rows = m, columns = n, depth = k;
    result[0] = 2 * rows * columns * depth;
    result[1] = 4 * (rows * depth + depth * columns);
    result[2] = result[0] / result[1];
}
