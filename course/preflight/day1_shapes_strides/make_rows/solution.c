// make_rows: reads by the strides, writes row by row.
void make_rows(const float *x, float *out, int n0, int n1, int n2, int s0, int s1, int s2)
{
    for (int i = 0; i < n0; i++)
        for (int j = 0; j < n1; j++)
            for (int k = 0; k < n2; k++)
                out[(i * n1 + j) * n2 + k] = x[i * s0 + j * s1 + k * s2];
}
