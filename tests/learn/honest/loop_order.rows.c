void loop_order(const float *a, const float *b, float *c, int m, int n, int k)
{
    for (int i = 0; i < m; i++) {
        float *row = c + i * n;
        for (int p = 0; p < k; p++) {
            float f = a[i * k + p];
            const float *from = b + p * n;
            if (p == 0)
                for (int j = 0; j < n; j++)
                    row[j] = f * from[j];
            else
                for (int j = 0; j < n; j++)
                    row[j] += f * from[j];
        }
    }
}
