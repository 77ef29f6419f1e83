// Multiplies in int.
void traffic(int n, int d, int block, double *bytes)
{
    double vectors = (double)n * d;
    bytes[0] = 4 * (4 * vectors + 4 * n * n);
    bytes[1] = 4 * (2 * vectors + 2 * vectors * ((n + block - 1) / block));
}
