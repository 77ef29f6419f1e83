// triad (kata): z = alpha * x + y for n elements, with 4 blocks of 128 threads, whatever n is.
__global__ void triad(float alpha, const float *x, const float *y, float *z, int n)
{
    // TODO: from memory: a grid-stride loop. Where does a thread begin, and how far does it step?
}
