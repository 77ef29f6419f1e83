// expect: wrong result for 
// Codes without their zero point in the upper half.
__global__ void int4_matvec(const unsigned char *w, const float *scales, const float *x, float *y, int rows, int groups)
{
    int lane = threadIdx.x % 32, r = blockIdx.x * 4 + threadIdx.x / 32;
    float sum = 0;
    if (r >= rows)
        return; // whole warps only
    for (int i = lane; i < 16 * groups; i += 32) {
        int byte = w[r * groups * 16 + i];
        float2 two = *(const float2 *)(x + 2 * i);
        sum += scales[r * groups + i / 16] * (((byte & 15) - 8) * two.x + ((byte >> 4)) * two.y);
    }
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, step);
    if (lane == 0)
        y[r] = sum;
}
