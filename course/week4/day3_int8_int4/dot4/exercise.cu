// dot4 (kata): out[r] = the dot product of row r of a with b, in int8 with sums in int. Rows have 4 * quads bytes; a warp has one row.
__global__ void dot4(const signed char *a, const signed char *b, int *out, int rows, int quads)
{
    // TODO: ints that hold four bytes each, and __dp4a(x, y, sum).
}
