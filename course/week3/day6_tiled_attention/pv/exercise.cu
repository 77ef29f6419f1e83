// pv (kata): out[i][c] = the sum over j of w[i][j] * v[j][c]. Rows of v have 32 numbers; a block is one warp and has one
// query.
__global__ void pv(const float *w, const float *v, float *out, int keys)
{
    // TODO: load 32 weights at a time, one for each lane; hand them out with __shfl_sync.
}
