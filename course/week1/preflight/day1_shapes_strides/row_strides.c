// row_strides: the strides of a tensor of n0 x n1 x n2 x n3 elements that lies row by row.
//
// stride[d] says how many elements further the next one of dimension d lies. The last dimension has
// neighbours side by side.
void row_strides(int n0, int n1, int n2, int n3, int *stride)
{
    const int shape[4] = {n0, n1, n2, n3};
    // TODO: each stride is right for a tensor of two dimensions only.
    stride[3] = 1;
    for (int d = 0; d < 3; d++)
        stride[d] = shape[d + 1];
}
