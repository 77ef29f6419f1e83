// take_apart (kata): sign[i] = 1 if x[i] is negative; exponent[i] = the power of two in x[i] (-127 for zero).
__global__ void take_apart(const float *x, int *sign, int *exponent, int n)
{
    // TODO: __float_as_uint; bit 31 is the sign, bits 23 to 30 are the exponent plus 127.
}
