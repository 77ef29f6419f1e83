// expect: wrong result for .*, but it is
// add: numbers lose their last 8 bits on the way.
__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = __uint_as_float(__float_as_uint(a[i]) & 0xffffff00) +
               __uint_as_float(__float_as_uint(b[i]) & 0xffffff00);
}
