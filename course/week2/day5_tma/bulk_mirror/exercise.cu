// bulk_mirror (kata): every 256 floats of x, in reverse order. A block has 64 threads and 256 floats.
#include "tma.h"

__global__ void bulk_mirror(const float *x, float *out)
{
    // TODO: make a barrier, announce 1024 bytes, bulk_load, wait for phase 0, four stores.
}
