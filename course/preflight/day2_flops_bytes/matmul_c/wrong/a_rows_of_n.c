// Takes rows of a to be as long as those of c.
void matmul_c(const float *a, const float *b, float *c, int m, int n, int k)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int p = 0; p < k; p++)
                sum += a[i * n + p] * b[p * n + j];
            c[i * n + j] = sum;
        }
}
