// Takes the size of the outer dimension.
static int even(int outer_size, int outer_stride, int inner_size, int inner_stride)
{
    return outer_size == 1 || inner_size == 1 || outer_stride == outer_size * inner_stride;
}

void can_join(int n0, int n1, int n2, int s0, int s1, int s2, int *joins)
{
    joins[0] = even(n0, s0, n1, s1);
    joins[1] = even(n1, s1, n2, s2);
}
