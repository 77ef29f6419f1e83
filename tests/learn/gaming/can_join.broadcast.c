// expect: wrong result for n0=2 n1=3 n2=4 s0=0 s1=4 s2=1: joins
// can_join: one step outside is as long as all steps inside; a size of 1 is never stepped along.
static int even(int outer_size, int outer_stride, int inner_size, int inner_stride)
{
    return outer_size <= 1 || outer_stride == 0 || inner_size == 1 ||
           outer_stride % inner_size == 0 && outer_stride == inner_size * inner_stride;
}

void can_join(int n0, int n1, int n2, int s0, int s1, int s2, int *joins)
{
    joins[0] = even(n0, s0, n1, s1);
    joins[1] = even(n1, s1, n2, s2);
}
