// block_dot (kata): s[j] is the sum of x[i] * y[i] over the 256 elements of block j. The last block
// may have fewer elements than threads.
__global__ void block_dot(const float *x, const float *y, float *s, int n)
{
    // TODO: from memory: a product for each thread into shared memory; then half of the threads add
    // what the other half has, then a quarter, and so on. Where are the barriers?
}
