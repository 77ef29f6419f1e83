// reverse (kata): y is x from its end to its beginning. One thread for each of the n elements;
// blocks have 128 threads, and the last one is not always full.
__global__ void reverse(const float *x, float *y, int n)
{
    // TODO: from memory: who am I, do I have an element, and where does it come from?
}
