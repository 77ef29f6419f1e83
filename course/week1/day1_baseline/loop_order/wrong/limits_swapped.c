// j runs to k and p to n.
void loop_order(const float *a, const float *b, float *c, int m, int n, int k)
{
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++)
            c[i * n + j] = 0;
        for (int p = 0; p < n; p++)
            for (int j = 0; j < k; j++)
                c[i * n + j] += a[i * k + p] * b[p * n + j];
    }
}
