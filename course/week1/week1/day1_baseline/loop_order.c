// loop_order: c = a * b as before. a has m x k elements, b has k x n, c has m x n.
//
// The result is right. But the inner loop goes down a column of b, a whole row further each time,
// and before it comes back to use the neighbours, the cache has dropped them.
void loop_order(const float *a, const float *b, float *c, int m, int n, int k)
{
    // TODO: the same products in another order: i, p, j. The inner loop then walks along rows.
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int p = 0; p < k; p++)
                sum += a[i * k + p] * b[p * n + j];
            c[i * n + j] = sum;
        }
}
