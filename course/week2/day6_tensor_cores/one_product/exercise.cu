// one_product (kata): c = a * b + bias for n pairs of matrices of 16 x 16; block i, one warp, does pair i.
#include <mma.h>
using namespace nvcuda;

__global__ void one_product(const half *a, const half *b, float *c, float bias)
{
    // TODO: three fragments, fill, load, load, multiply, store.
}
