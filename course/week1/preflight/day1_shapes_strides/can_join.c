// can_join: a tensor of n0 x n1 x n2 elements has the strides s0, s1, s2. joins[0] becomes 1 if its
// first two dimensions can be made one without a copy, else 0; joins[1] the same for the last two.
static int even(int outer_size, int outer_stride, int inner_size, int inner_stride)
{
    // TODO: contiguous tensors pass this test, but so do some that are not; and others that could
    // be joined fail.
    return outer_stride > inner_stride;
}

void can_join(int n0, int n1, int n2, int s0, int s1, int s2, int *joins)
{
    joins[0] = even(n0, s0, n1, s1);
    joins[1] = even(n1, s1, n2, s2);
}
