// turn16 (kata): out[c][r] = in[r][c]. in has rows x cols, out has cols x rows.
//
// A block has 16 x 16 threads and moves a tile of 16 x 16 elements; the grid has ceil(cols / 16) x
// ceil(rows / 16) blocks.
__global__ void turn16(const float *in, float *out, int rows, int cols)
{
    // TODO: from memory: a tile, a barrier, the roles of x and y changed. Does it need padding?
}
