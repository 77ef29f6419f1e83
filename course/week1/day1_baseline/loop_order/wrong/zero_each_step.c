// The row of c is set to 0 again for every p: only the last product is left.
void loop_order(const float *a, const float *b, float *c, int m, int n, int k)
{
    for (int i = 0; i < m; i++) {
        for (int p = 0; p < k; p++) {
            for (int j = 0; j < n; j++)
                c[i * n + j] = 0;
            for (int j = 0; j < n; j++)
                c[i * n + j] += a[i * k + p] * b[p * n + j];
        }
    }
}
