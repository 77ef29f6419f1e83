// expect: wrong result for layers=[0-9]+ heads=[0-9]+ dim=[0-9]+ tokens=[0-9]+: bytes
// cache_bytes: bytes of a row of K and of V, times the number of rows.
void cache_bytes(int layers, int heads, int dim, long tokens, double *bytes)
{
    double rows = (int)(layers * heads * tokens);
    bytes[0] = rows * (2 * dim + 2 * dim);
    bytes[1] = rows * (dim + 4 + dim + 4);
    bytes[2] = rows * (dim + 4 + dim / 2 + dim / 16);
}
