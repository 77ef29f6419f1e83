// swizzle (kata): out[c][r] = in[r][c]. A block has 32 x 8 threads and a tile of exactly 1024 words.
__global__ void swizzle(const float *in, float *out, int rows, int cols)
{
    extern __shared__ float tile[]; // 32 x 32, no more
    // TODO: transpose through the tile. Put column c of row r where column c ^ r would be.
}
