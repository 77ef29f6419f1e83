// The first dimension has neighbours side by side: column by column.
void row_strides(int n0, int n1, int n2, int n3, int *stride)
{
    const int shape[4] = {n0, n1, n2, n3};
    stride[0] = 1;
    for (int d = 1; d < 4; d++)
        stride[d] = stride[d - 1] * shape[d - 1];
}
