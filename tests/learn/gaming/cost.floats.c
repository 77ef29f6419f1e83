// expect: wrong result for m=[0-9]+ n=[0-9]+ k=[0-9]+: out
// cost: 2 m n k FLOPs, and three matrices of floats. Numbers this large are computed in double.
void cost(double *out, int m, int n, int k)
{
    out[0] = 2.0f * m * n * k;
    out[1] = 4.0 * m * k + 4.0 * k * n + 4.0 * m * n;
    out[2] = out[0] / out[1];
}
