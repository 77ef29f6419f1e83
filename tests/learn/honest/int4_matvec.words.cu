__global__ void int4_matvec(const unsigned char *w, const float *scales, const float *x, float *y,
                            int rows, int groups)
{
    int lane = threadIdx.x % 32, r = blockIdx.x * 4 + threadIdx.x / 32;
    float sum = 0;
    if (r >= rows)
        return;
    for (int i = lane; i < 4 * groups; i += 32) {
        unsigned word = ((const unsigned *)w)[r * groups * 4 + i];
        float part = 0;
        for (int k = 0; k < 2; k++) {
            float4 v = ((const float4 *)x)[i * 2 + k];
            part += ((int)(word >> 16 * k & 15) - 8) * v.x +
                    ((int)(word >> (16 * k + 4) & 15) - 8) * v.y +
                    ((int)(word >> (16 * k + 8) & 15) - 8) * v.z +
                    ((int)(word >> (16 * k + 12) & 15) - 8) * v.w;
        }
        sum += scales[r * groups + i / 4] * part;
    }
    for (int o = 16; o; o >>= 1)
        sum += __shfl_down_sync(~0u, sum, o);
    if (lane == 0)
        y[r] = sum;
}
