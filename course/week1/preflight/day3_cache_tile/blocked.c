// blocked: c = a * b, with b in tiles that stay in the cache. a has m x k elements, b has k x n, c
// has m x n; all lie row by row.
//
// A tile of b has TILE rows and TILE columns. While it is in the cache it should be used for every
// row of a, and then never again. Sums of c grow tile by tile.
enum { TILE = 64 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

void blocked(const float *a, const float *b, float *c, int m, int n, int k)
{
    for (int i = 0; i < m * n; i++)
        c[i] = 0;
    // TODO: here each row of a goes through all tiles of b before the next row comes. The result is
    // right, but b is fetched m times.
    for (int i = 0; i < m; i++)
        for (int first_p = 0; first_p < k; first_p += TILE)
            for (int first_j = 0; first_j < n; first_j += TILE)
                for (int j = first_j; j < least(first_j + TILE, n); j++) {
                    float sum = c[i * n + j];
                    for (int p = first_p; p < least(first_p + TILE, k); p++)
                        sum += a[i * k + p] * b[p * n + j];
                    c[i * n + j] = sum;
                }
}
