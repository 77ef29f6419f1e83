// stochastic: codes[i] = x[i] / scale, rounded up or down at random: up with the probability of its fraction. random[i] is
// 0 .. 63. Codes go from -127 to 127.
__global__ void stochastic(const float *x, const unsigned *random, signed char *codes, float scale, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    // TODO: add a random fraction, random[i] / 64, and round down. Then clamp.
    if (i < n)
        codes[i] = (signed char)rintf(x[i] / scale);
}
