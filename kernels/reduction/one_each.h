/*
 * one_each.h: the kernels of a tree that has one element for each thread: the first pass over
 * elements, and passes over partial results. Included for each type, after NAME(tree).
 */
KERNEL NAME(reduce)(const T *in, i64 n, A *partials, OUT *result)
{
    i64 i = global_thread();
    NAME(tree)(i < n ? LIFT(in[i], i) : IDENTITY(), partials, result);
}

KERNEL NAME(again)(const A *in, i64 n, A *partials, OUT *result)
{
    i64 i = global_thread();
    NAME(tree)(i < n ? in[i] : IDENTITY(), partials, result);
}
