// estimate: in doubles from the first factor on.
void estimate(int m, int n, int k, double *result)
{
    double rows = m, columns = n, depth = k;
    result[0] = 2 * rows * columns * depth;
    result[1] = 4 * (rows * depth + depth * columns + rows * columns);
    result[2] = result[0] / result[1];
}
