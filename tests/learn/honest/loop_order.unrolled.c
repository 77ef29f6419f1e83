// loop_order: four rows of b at a time.
void loop_order(const float *a, const float *b, float *c, int m, int n, int k)
{
    for (int i = 0; i < m; i++) {
        float *row = c + i * n;
        for (int j = 0; j < n; j++)
            row[j] = 0;
        int p = 0;
        for (; p + 3 < k; p += 4) {
            float a0 = a[i * k + p], a1 = a[i * k + p + 1], a2 = a[i * k + p + 2],
                  a3 = a[i * k + p + 3];
            for (int j = 0; j < n; j++)
                row[j] += a0 * b[p * n + j] + a1 * b[(p + 1) * n + j] + a2 * b[(p + 2) * n + j] +
                          a3 * b[(p + 3) * n + j];
        }
        for (; p < k; p++)
            for (int j = 0; j < n; j++)
                row[j] += a[i * k + p] * b[p * n + j];
    }
}
