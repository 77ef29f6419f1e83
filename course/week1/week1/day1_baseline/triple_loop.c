// triple_loop: c = a * b. a has m x k elements, b has k x n, c has m x n; all lie row by row.
void triple_loop(const float *a, const float *b, float *c, int m, int n, int k)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            // TODO: the third loop: along row i of a, down column j of b, add the products.
            c[i * n + j] = sum;
        }
}
