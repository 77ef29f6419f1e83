// causal (kata): p = the softmax of every row of s, where row i sees columns 0 to i only; the others get 0. A block is
// one warp and has one row.
__global__ void causal(const float *s, float *p, int n)
{
    // TODO: largest, sum, result, each over the first i + 1 columns; then the zeros.
}
