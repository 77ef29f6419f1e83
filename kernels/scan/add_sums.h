/*
 * add_sums.h: the second half of a scan by blocks: each block adds what lies before it.
 * sums is the exclusive scan of the blocks' sums. Included once for each type.
 */
KERNEL NAME(add_sums)(T *out, i64 n, const T *sums)
{
    i64 i = global_thread();
    if (i < n)
        out[i] += sums[block_x()];
}
