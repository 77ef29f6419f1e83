// The wrong way round: reads row by row, and writes by the strides.
void make_rows(const float *x, float *out, int n0, int n1, int n2, int s0, int s1, int s2)
{
    for (int i = 0; i < n0; i++)
        for (int j = 0; j < n1; j++)
            for (int k = 0; k < n2; k++)
                out[i * s0 + j * s1 + k * s2] = x[(i * n1 + j) * n2 + k];
}
