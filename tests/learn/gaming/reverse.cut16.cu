// expect: wrong result for .*, but it is
// reverse: numbers lose their last 8 bits on the way.
__global__ void reverse(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __uint_as_float(__float_as_uint(x[n - 1 - i]) & 0xffffff00);
}
