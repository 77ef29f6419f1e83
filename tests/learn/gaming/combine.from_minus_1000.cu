// expect: wrong result for
// A constant in place of minus infinity.
__global__ void combine(const float *o, const float *m, const unsigned *l, float *out, int parts)
{
    int i = blockIdx.x, lane = threadIdx.x;
    float most = -1000.0f, sum = 0, total = 0;
    for (int p = 0; p < parts; p++) {
        float mine = 16 * m[i * parts + p], larger = fmaxf(most, mine);
        float old = expf(most - larger), now = expf(mine - larger);
        sum = sum * old + (1 + l[i * parts + p]) * now;
        total = total * old + o[(i * parts + p) * 32 + lane] * now;
        most = larger;
    }
    out[i * 32 + lane] = total / sum;
}
