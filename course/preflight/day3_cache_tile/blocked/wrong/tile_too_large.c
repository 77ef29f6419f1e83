// The loops are right, but a tile is as large as b: nothing of it is left when it is needed again.
enum { TILE = 512 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

void blocked(const float *a, const float *b, float *c, int m, int n, int k)
{
    for (int i = 0; i < m * n; i++)
        c[i] = 0;
    for (int first_p = 0; first_p < k; first_p += TILE)
        for (int first_j = 0; first_j < n; first_j += TILE)
            for (int i = 0; i < m; i++)
                for (int j = first_j; j < least(first_j + TILE, n); j++) {
                    float sum = c[i * n + j];
                    for (int p = first_p; p < least(first_p + TILE, k); p++)
                        sum += a[i * k + p] * b[p * n + j];
                    c[i * n + j] = sum;
                }
}
