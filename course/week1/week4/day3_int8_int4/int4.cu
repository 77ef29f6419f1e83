// to_int4: groups of 32 numbers; scale = the largest |x| of the group / 7; code = x / scale, rounded, plus 8: 1 .. 15. Two codes
// share a byte: the even one has the low four bits. A warp has one group.
//
// Here every lane makes a whole byte alone, from a scale that is the same for all groups.
__global__ void to_int4(const float *x, unsigned char *packed, float *scales, int groups)
{
    int lane = threadIdx.x % 32, g = blockIdx.x * 4 + threadIdx.x / 32;
    if (g >= groups)
        return;
    // TODO: the group's own scale; one number for each lane; the neighbour's code by a shuffle.
    float scale = 8.0f / 7;
    if (lane < 16) {
        int low = (int)rintf(x[g * 32 + 2 * lane] / scale) + 8;
        int high = (int)rintf(x[g * 32 + 2 * lane + 1] / scale) + 8;
        packed[g * 16 + lane] = (unsigned char)(low | high << 4);
    }
    if (lane == 0)
        scales[g] = scale;
}
