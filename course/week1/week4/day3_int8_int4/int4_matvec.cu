// int4_matvec: y = w * x, where w is stored in four bits: groups of 32 weights with a scale, two codes to a byte, each code 8
// too large. A warp has one row.
//
// Every lane unpacks one weight, so two lanes load the same byte, and the scale is multiplied into every product.
__global__ void int4_matvec(const unsigned char *w, const float *scales, const float *x, float *y, int rows, int groups)
{
    int lane = threadIdx.x % 32, r = blockIdx.x * 4 + threadIdx.x / 32;
    float sum = 0;
    if (r >= rows)
        return;
    // TODO: a lane for two weights: half of the lanes have one group, the other half the next.
    for (int g = 0; g < groups; g++) {
        int byte = w[(r * groups + g) * 16 + lane / 2];
        int code = lane % 2 ? byte >> 4 : byte & 15;
        sum += scales[r * groups + g] * (code - 8) * x[32 * g + lane];
    }
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, step);
    if (lane == 0)
        y[r] = sum;
}
