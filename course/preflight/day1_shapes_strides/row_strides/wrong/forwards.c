// Goes forwards, and reads strides that are not written yet.
void row_strides(int n0, int n1, int n2, int n3, int *stride)
{
    const int shape[4] = {n0, n1, n2, n3};
    for (int d = 0; d < 3; d++)
        stride[d] = stride[d + 1] * shape[d + 1];
    stride[3] = 1;
}
