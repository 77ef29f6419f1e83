// Forgets the scales.
void cache_bytes(int layers, int heads, int dim, long tokens, double *bytes)
{
    double rows = (double)layers * heads * tokens;
    bytes[0] = rows * (2 * dim + 2 * dim);
    bytes[1] = rows * (dim + 4 + dim + 4);
    bytes[2] = rows * (dim + dim / 2);
}
