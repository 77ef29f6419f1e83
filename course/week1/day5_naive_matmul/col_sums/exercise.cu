// col_sums (kata): s[c] is the sum of column c of x, which has rows x cols elements, row by row.
//
// One thread for each column; blocks have 128 threads.
__global__ void col_sums(const float *x, float *s, int rows, int cols)
{
    // TODO: from memory: which column is mine, and how far is it from one row to the next?
}
