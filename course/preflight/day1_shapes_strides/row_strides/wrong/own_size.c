// Multiplies by the size of the dimension itself, not of the next one.
void row_strides(int n0, int n1, int n2, int n3, int *stride)
{
    const int shape[4] = {n0, n1, n2, n3};
    stride[3] = 1;
    for (int d = 2; d >= 0; d--)
        stride[d] = stride[d + 1] * shape[d];
}
