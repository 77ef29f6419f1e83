// traffic (kata): bytes from and to memory, in f32, for n tokens of d numbers, without caches and without a mask.
// bytes[0]: naive: reads q, k and v, writes out; writes the scores, reads them, writes the weights, reads them.
// bytes[1]: flash: reads q, writes out; every block of `block` queries reads all of k and v.
void traffic(int n, int d, int block, double *bytes)
{
    // TODO: mind that n * n is past an int.
}
