// Right, but c is read and written for every product; a variable would stay in a register.
void matmul_c(const float *a, const float *b, float *c, int m, int n, int k)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            c[i * n + j] = 0;
            for (int p = 0; p < k; p++)
                c[i * n + j] += a[i * k + p] * b[p * n + j];
        }
}
