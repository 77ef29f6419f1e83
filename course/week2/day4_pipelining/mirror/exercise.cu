// mirror (kata): every 256 floats of x, in reverse order. n is a multiple of 256; a block has 64 threads.
#include <cuda_pipeline.h>

__global__ void mirror(const float *x, float *out, int n)
{
    // TODO: one asynchronous copy of 16 bytes for each thread, commit, wait, barrier, four stores.
}
