// matmul_c: c = a * b. a has m x k elements, b has k x n, c has m x n; all lie row by row.
//
// Every element of c is a sum of k products: along a row of a, and down a column of b.
void matmul_c(const float *a, const float *b, float *c, int m, int n, int k)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            // TODO: this has only the first product of the sum.
            c[i * n + j] = a[i * k] * b[j];
        }
}
