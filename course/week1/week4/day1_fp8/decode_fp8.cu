// decode_fp8: values[i] = the number that E4M3 code i stands for: codes 0 to 126 are the positive ones, then come their
// negatives (i - 127, with the sign bit set).
//
// A code is s eeee mmm: value = (-1)^s * 2^(e - 7) * (1 + m / 8), and for e = 0: 2^-6 * m / 8.
__global__ void decode_fp8(float *values, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) {
        int code = i % 127, e = code / 8, m = code % 8;
        // TODO: codes with e = 0 are different, half of the codes are negative, and a power of two needs no exp.
        values[i] = exp2f(e - 7) * (1 + m / 8.0f);
    }
}
