// Walks along a row of b, not down a column.
void matmul_c(const float *a, const float *b, float *c, int m, int n, int k)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int p = 0; p < k; p++)
                sum += a[i * k + p] * b[j * k + p];
            c[i * n + j] = sum;
        }
}
